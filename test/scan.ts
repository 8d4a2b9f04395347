import { room } from './rooms/room.ts';

await room('core/scan', 'core/sarif', 'gates/sast');
