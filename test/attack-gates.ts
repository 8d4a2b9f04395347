import './attack/reports/forged-report.test.ts';
import './attack/suppressions/own-marker.test.ts';
import './attack/secrets-stored/refused-secret.test.ts';
import './attack/secrets-stored/held-back.test.ts';
import './attack/judge/changed-judge.test.ts';
import './attack/one-world/shared-state.test.ts';
import './attack/one-world/carry.test.ts';
import './attack/one-world/hostile-workspaces.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
