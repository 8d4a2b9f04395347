import { room } from './rooms/room.ts';

await room(
  'core/kernel/answer.test.ts',
  'core/kernel/engine.test.ts',
  'core/kernel/hook.test.ts',
  'core/kernel/hooks.test.ts',
  'core/kernel/ledger.test.ts',
  'core/kernel/plugin.test.ts',
  'core/kernel/rules.test.ts',
  'core/kernel/slot.test.ts',
  'core/kernel/worker/admission.test.ts',
  'core/kernel/worker/evaluate-here.test.ts',
  'core/kernel/worker/pool.test.ts',
  'plugins/testers/gate-tester.test.ts',
  'plugins/testers/stage-check-tester.test.ts',
  'plugins/testers/tiny-diff.test.ts',
  'core/base',
  'spec',
  'readers/documents/baseline.test.ts',
  'readers/documents/date-time.test.ts',
  'work',
);
