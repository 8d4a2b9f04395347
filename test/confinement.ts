import { room } from './rooms/room.ts';

await room('attack/confinement', 'core/tool/limit-group.test.ts');
