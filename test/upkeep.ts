import t from 'tap';
import './core/upkeep/patience.ts';
import './bin/commands/upkeep.test.ts';
import './core/run/cost-cap.test.ts';
import './core/run/damaged-runs.test.ts';
import './core/run/cancel-request.test.ts';
import './core/upkeep/check-repository.test.ts';
import './core/upkeep/collect-garbage.test.ts';
import './core/upkeep/push-fetch.test.ts';
import './core/upkeep/replay-run.test.ts';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
