import { room } from './rooms/room.ts';

await room('attack/policy', 'attack/approvals');
