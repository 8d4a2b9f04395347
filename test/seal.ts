import { room } from './rooms/room.ts';

await room(
  'bin/commands/no-seal.test.ts',
  'bin/commands/queue.test.ts',
  'bin/commands/baseline.test.ts',
  'bin/commands/seal.test.ts',
  'bin/commands/short-spec.test.ts',
  'bin/commands/signed-commit.test.ts',
  'bin/commands/push-sealed.test.ts',
  'bin/commands/commit-hooks.test.ts',
  'bin/commands/repositories-as-they-are.test.ts',
  'bin/commands/partial-clone.test.ts',
);
