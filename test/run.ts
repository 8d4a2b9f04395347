import './core/run/collect-artifacts.test.ts';
import './core/run/read-reports.test.ts';
import './core/run/describe-engine.test.ts';
import './core/run/seal-faults.test.ts';
import './core/run/run-events.test.ts';
import './core/run/run-cases.test.ts';
import './core/run/external-local-runs.test.ts';
import './core/run/few-processes.test.ts';
import t from 'tap';

// The last word of all files above: a room on a busy machine takes its time.
t.setTimeout(540_000);
