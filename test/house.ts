import './architecture.test.ts';
import './doors.test.ts';
import './error-catalogue.test.ts';
import './guards.test.ts';
