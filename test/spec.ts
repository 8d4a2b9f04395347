import { room } from './rooms/room.ts';

await room('core/base', 'engine/spec', 'readers/documents/date-time.test.ts');
