import { room } from './rooms/room.ts';

await room('attack/confinement', 'plugins/sandbox/limit-group.test.ts', 'attack/one-world');
