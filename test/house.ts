import { room } from './rooms/room.ts';

await room(
  'architecture.test.ts',
  'bench',
  'dependencies-page.test.ts',
  'docs-pages.test.ts',
  'doors.test.ts',
  'error-catalogue.test.ts',
  'litter.test.ts',
  'measures',
  'newcomers-page.test.ts',
  'rooms',
  'size.test.ts',
  'waiting',
);
