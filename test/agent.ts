import { room } from './rooms/room.ts';

await room('agent', 'readers/documents/html.test.ts', 'attack/injection');
