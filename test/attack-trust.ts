import { room } from './rooms/room.ts';

await room('attack/refs', 'attack/journal');
