import { room } from './rooms/room.ts';

await room('service/kill.test.ts');
