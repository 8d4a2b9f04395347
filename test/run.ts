import { room } from './rooms/room.ts';

await room(
  'engine/run/judge/collect-artifacts.test.ts',
  'engine/run/judge/read-reports.test.ts',
  'engine/run/judge/read-rule-files.test.ts',
  'engine/run/judge/take-carried.test.ts',
  'engine/run/state/describe-engine.test.ts',
  'engine/run/state/environment-fault.test.ts',
  'engine/run/state/evidence-modes.test.ts',
  'engine/run/state/lost-calls.test.ts',
  'engine/run/state/rights-lacking.test.ts',
  'engine/run/seal-faults.test.ts',
  'engine/run/held-change.test.ts',
  'engine/run/draft',
  'engine/run/run-events.test.ts',
  'engine/run/run-cases.test.ts',
  'engine/run/external-local-runs.test.ts',
  'engine/run/few-processes.test.ts',
  'engine/run/observed-run.test.ts',
);
