import { room } from './rooms/room.ts';

await room('attack/confinement', 'engine/tool/limit-group.test.ts');
