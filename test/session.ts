import { room } from './rooms/room.ts';

await room('session', 'bin/code');
