import { room } from './rooms/room.ts';

await room('core/platform', 'core/run/checks-with-factors.test.ts');
