import { room } from './rooms/room.ts';

await room('core/intent', 'bin/commands/lifecycle.test.ts');
