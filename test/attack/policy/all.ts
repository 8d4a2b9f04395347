import './old-base.test.ts';
import './every-change.test.ts';
import './wording.test.ts';
import './resume.test.ts';
