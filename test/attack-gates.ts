import { room } from './rooms/room.ts';

await room('attack/reports', 'attack/suppressions', 'attack/secrets-stored', 'attack/judge');
