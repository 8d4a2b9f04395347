import { room } from './rooms/room.ts';

await room(
  'engine/run/record/mask-values.test.ts',
  'engine/run/authors-of.test.ts',
  'engine/run/work/backoff.test.ts',
  'engine/run/decide/blame.test.ts',
  'engine/run/decide/budget.test.ts',
  'engine/run/decide/decide.test.ts',
  'engine/run/decide-table.test.ts',
  'engine/run/record/replan-triggers.test.ts',
  'engine/run/work/schedule.test.ts',
  'engine/run/work/web',
  'engine/run/open',
  'engine/run/record/waiting-record.test.ts',
  'engine/run/record/stored-approvals.test.ts',
  'engine/run/record/failure-text.test.ts',
  'engine/run/judge/check-time.test.ts',
  'engine/run/judge/expectations',
  'engine/run/judge/produce-artifacts.test.ts',
  'engine/run/judge/reach',
  'engine/run/judge/second-run',
  'engine/run/judge/written-outside.test.ts',
);
