import './core/run/run-edges.test.ts';
import './core/run/worker-runs.test.ts';
import './core/run/approval-runs.test.ts';
import './core/run/context-blobs.test.ts';
import './core/run/travelling-run.test.ts';
