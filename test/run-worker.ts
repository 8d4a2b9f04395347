import { room } from './rooms/room.ts';

await room(
  'engine/run-edges.test.ts',
  'engine/worker-runs.test.ts',
  'engine/dirty-tree.test.ts',
  'engine/include-changes.test.ts',
  'engine/work/guilty-tasks.test.ts',
  'engine/work/worker-breaks.test.ts',
  'engine/work/unknown-api.test.ts',
  'engine/approval-runs.test.ts',
  'engine/carried-approvals.test.ts',
  'engine/owned-paths.test.ts',
  'engine/waivers.test.ts',
  'engine/context-blobs.test.ts',
  'engine/travelling-run.test.ts',
  'engine/parts',
);
