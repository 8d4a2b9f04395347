import { room } from './rooms/room.ts';

await room(
  'engine/vcs',
  'engine/plan/glob.test.ts',
  'engine/plan/scope.test.ts',
  'engine/run/record/run-litter.test.ts',
  'engine/patch/round-trip.test.ts',
  'engine/patch/refusals.test.ts',
  'engine/patch/carry-reader.test.ts',
  'engine/patch/compare-patches.test.ts',
  'engine/patch/incoming-forms.test.ts',
  'engine/patch/large-patch.test.ts',
  'engine/patch/patch-without.test.ts',
);
