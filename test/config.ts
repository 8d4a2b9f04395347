import { room } from './rooms/room.ts';

await room(
  'engine/config/config.test.ts',
  'engine/config/lsp-section.test.ts',
  'engine/run/judge/workspace-dependencies.test.ts',
  'engine/config/approvals-section.test.ts',
);
