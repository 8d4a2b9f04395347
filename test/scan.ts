import { room } from './rooms/room.ts';

await room('gates/scan', 'readers/anchors', 'readers/documents/sarif', 'gates/sast');
