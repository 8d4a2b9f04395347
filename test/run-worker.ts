import { room } from './rooms/room.ts';

await room(
  'core/run/run-edges.test.ts',
  'core/run/worker-runs.test.ts',
  'core/run/approval-runs.test.ts',
  'core/run/context-blobs.test.ts',
  'core/run/travelling-run.test.ts',
);
