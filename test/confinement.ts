import './attack/confinement/hungry-check.test.ts';
import './attack/confinement/keyring.test.ts';
import './attack/confinement/left-behind.test.ts';
import './attack/confinement/limits.test.ts';
import './attack/confinement/same-verdict.test.ts';
import './core/tool/limit-group.test.ts';
