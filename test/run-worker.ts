import './core/run/run-edges.test.ts';
import './core/run/worker-runs.test.ts';
import './core/run/approval-runs.test.ts';
import './core/run/context-blobs.test.ts';
import './core/run/travelling-run.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
