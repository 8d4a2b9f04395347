import { room } from './rooms/room.ts';

await room('store', 'plugins/store');
