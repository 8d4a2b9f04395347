import { room } from './rooms/room.ts';

await room('work');
