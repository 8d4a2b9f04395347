import { room } from './rooms/room.ts';

await room('gates/scan', 'readers/documents/sarif', 'gates/sast');
