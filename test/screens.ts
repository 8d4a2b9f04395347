import { room } from './rooms/room.ts';

await room('session/screen', 'session/tui', 'session/web', 'bin/code');
