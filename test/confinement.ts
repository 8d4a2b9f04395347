import './attack/confinement/hungry-check.test.ts';
import './attack/confinement/keyring.test.ts';
import './attack/confinement/left-behind.test.ts';
import './attack/confinement/limits.test.ts';
import './attack/confinement/same-verdict.test.ts';
import './core/tool/limit-group.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
