import './attack/nothing-verified.test.ts';
import './attack/hostile-input.test.ts';
import './attack/mutation.test.ts';
import './attack/reports/forged-report.test.ts';
import './attack/suppressions/own-marker.test.ts';
import './attack/verify-target/ambiguous.test.ts';
import './attack/verify-target/replaced.test.ts';
import './attack/policy/old-base.test.ts';
