import { room } from './rooms/room.ts';

await room('coder', 'readers/documents/html.test.ts', 'attack/injection');
