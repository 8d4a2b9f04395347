import { room } from './rooms/room.ts';

await room('engine/tool/runtime', 'engine/run/state/checks-with-factors.test.ts');
