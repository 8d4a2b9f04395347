import { room } from './rooms/room.ts';

await room('attack/one-world');
