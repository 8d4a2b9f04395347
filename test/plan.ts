import { room } from './rooms/room.ts';

await room(
  'core/plan/covers-spec.test.ts',
  'core/plan/decompose.test.ts',
  'core/plan/parse-plan-draft.test.ts',
  'core/plan/plan-tasks.test.ts',
  'core/plan/revise-plan.test.ts',
  'core/plan/task-frontier.test.ts',
  'core/plan/task-graph.test.ts',
  'core/plan/write-index.test.ts',
);
