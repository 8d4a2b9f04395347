import { room } from './rooms/room.ts';

await room(
  'workspace/git',
  'engine/plan/glob.test.ts',
  'engine/plan/scope.test.ts',
  'engine/record/stale-run-files.test.ts',
  'workspace/patch/round-trip.test.ts',
  'workspace/patch/refusals.test.ts',
  'workspace/patch/carry-reader.test.ts',
  'workspace/patch/compare-patches.test.ts',
  'workspace/patch/incoming-forms.test.ts',
  'workspace/patch/large-patch.test.ts',
  'workspace/patch/patch-without.test.ts',
);
