import './service/kill.test.ts';
