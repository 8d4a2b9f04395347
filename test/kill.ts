import './kill/entry.ts';
