import { room } from './rooms/room.ts';

await room(
  'core/answer.test.ts',
  'core/engine.test.ts',
  'core/hook.test.ts',
  'core/hooks.test.ts',
  'core/ledger.test.ts',
  'core/nearest-name.test.ts',
  'core/plugin.test.ts',
  'core/rules.test.ts',
  'core/slot.test.ts',
  'core/worker/pool.test.ts',
  'plugins/testers/gate-tester.test.ts',
  'plugins/testers/tiny-diff.test.ts',
);
