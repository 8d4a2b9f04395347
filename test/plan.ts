import { room } from './rooms/room.ts';

await room(
  'engine/plan/covers-spec.test.ts',
  'engine/plan/decompose.test.ts',
  'core/contract/parse-plan-draft.test.ts',
  'engine/plan/plan-tasks.test.ts',
  'engine/plan/revise-plan.test.ts',
  'engine/plan/task-frontier.test.ts',
  'core/contract/task-graph.test.ts',
  'engine/plan/write-index.test.ts',
);
