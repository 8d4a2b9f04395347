import { room } from './rooms/room.ts';

await room(
  'core/vcs',
  'core/plan/glob.test.ts',
  'core/plan/scope.test.ts',
  'core/run/run-litter.test.ts',
  'core/patch/round-trip.test.ts',
  'core/patch/refusals.test.ts',
  'core/patch/incoming-forms.test.ts',
  'core/patch/large-patch.test.ts',
);
