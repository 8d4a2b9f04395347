import { room } from './rooms/room.ts';

await room('api', 'http', 'providers', 'doors');
