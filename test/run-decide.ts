import { room } from './rooms/room.ts';

await room(
  'engine/run/mask-values.test.ts',
  'engine/run/authors-of.test.ts',
  'engine/run/backoff.test.ts',
  'engine/run/budget.test.ts',
  'engine/run/decide.test.ts',
  'engine/run/decide-table.test.ts',
  'engine/run/replan-triggers.test.ts',
  'engine/run/schedule.test.ts',
  'engine/run/draft-plan.test.ts',
  'engine/run/waiting-record.test.ts',
  'engine/run/stored-approvals.test.ts',
  'engine/run/failure-text.test.ts',
  'engine/run/expectations',
  'engine/run/judge',
);
