import './hungry-check.test.ts';
import './keyring.test.ts';
import './left-behind.test.ts';
import './limits.test.ts';
import './same-verdict.test.ts';
