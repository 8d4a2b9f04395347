import { room } from './rooms/room.ts';

await room('kill/entry.ts');
