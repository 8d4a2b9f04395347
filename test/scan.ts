import { room } from './rooms/room.ts';

await room('gates/scan', 'gates/source', 'readers/anchors', 'readers/documents/sarif', 'gates/sast');
