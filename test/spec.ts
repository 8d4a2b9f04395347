import { room } from './rooms/room.ts';

await room('core/base', 'engine/spec');
