import { type Guard, within } from './guard.ts';

const travelling = 'test/engine/run/travelling-run.test.ts';
const waiting = 'a waiting run is approved';

/** What a run that ended in two clones comes to. */
export const guards: readonly Guard[] = [
  ...within('engine/run/record/settle-run.ts', travelling, [
    ['a plan may have come with a fetch', 'expectedOld: before,', 'expectedOld: null,', waiting],
  ]),
  ...within('api/verify/verify-target.ts', travelling, [
    [
      'the sealed record may be the other one',
      "others.some(({ ref }) => ref.endsWith('-run'))",
      'others.length < 0',
      waiting,
    ],
  ]),
  ...within('bin/command-parts/moved-refs.ts', travelling, [
    ['two records await a choice', 'stuck.every(awaitsChoice)', 'stuck.length < 0', waiting],
  ]),
];
