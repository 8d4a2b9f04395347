import { room } from './rooms/room.ts';

await room('engine/intent', 'bin/commands/lifecycle.test.ts');
