import { room } from './rooms/room.ts';

await room(
  'architecture.test.ts',
  'dependencies-page.test.ts',
  'doors.test.ts',
  'error-catalogue.test.ts',
  'guards.test.ts',
  'litter.test.ts',
  'newcomers-page.test.ts',
  'rooms',
);
