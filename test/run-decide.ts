import { room } from './rooms/room.ts';

await room(
  'core/run/verdict.test.ts',
  'core/run/mask-values.test.ts',
  'core/run/authors-of.test.ts',
  'core/run/backoff.test.ts',
  'core/run/budget.test.ts',
  'core/run/decide.test.ts',
  'core/run/decide-table.test.ts',
  'core/run/replan-triggers.test.ts',
  'core/run/schedule.test.ts',
  'core/run/draft-plan.test.ts',
  'core/run/waiting-record.test.ts',
  'core/run/stored-approvals.test.ts',
  'core/run/failure-text.test.ts',
  'core/run/kept-spec.test.ts',
  'core/run/expectations',
  'core/run/judge',
);
