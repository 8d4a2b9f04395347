import './old-base.test.ts';
import './every-change.test.ts';
