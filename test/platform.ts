import { room } from './rooms/room.ts';

await room('engine/tool/runtime', 'engine/run/checks-with-factors.test.ts');
