import { room } from './rooms/room.ts';

await room(
  'core/run/collect-artifacts.test.ts',
  'core/run/read-reports.test.ts',
  'core/run/describe-engine.test.ts',
  'core/run/seal-faults.test.ts',
  'core/run/run-events.test.ts',
  'core/run/run-cases.test.ts',
  'core/run/external-local-runs.test.ts',
  'core/run/few-processes.test.ts',
);
