import { room } from './rooms/room.ts';

await room('engine/store', 'plugins/store');
