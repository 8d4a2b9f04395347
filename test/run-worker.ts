import { room } from './rooms/room.ts';

await room(
  'engine/run/run-edges.test.ts',
  'engine/run/worker-runs.test.ts',
  'engine/run/dirty-tree.test.ts',
  'engine/run/include-changes.test.ts',
  'engine/run/work/agent',
  'engine/run/work/turns',
  'engine/run/work/lsp',
  'engine/run/work/tools',
  'engine/run/work/guilty-tasks.test.ts',
  'engine/run/work/worker-breaks.test.ts',
  'engine/run/work/lost-calls',
  'engine/run/work/unknown-api.test.ts',
  'engine/run/work/consent-time.test.ts',
  'engine/run/approval-runs.test.ts',
  'engine/run/carried-approvals.test.ts',
  'engine/run/context-blobs.test.ts',
  'engine/run/travelling-run.test.ts',
  'engine/run/parts',
);
