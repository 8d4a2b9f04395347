import { room } from './rooms/room.ts';

await room(
  'session/acp',
  'session/agents',
  'session/api',
  'session/approvals',
  'session/audit',
  'session/channel',
  'session/client',
  'session/conform',
  'session/control',
  'session/hostile',
  'session/log',
  'session/mcp',
  'session/self-test',
  'session/serve',
  'session/state',
  'session/thread',
  'session/vcs',
  'session/work',
);
