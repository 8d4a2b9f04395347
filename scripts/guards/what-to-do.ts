import { type Guard, within } from './guard.ts';

/** Refusals that say what to do. */
export const guards: readonly Guard[] = [
  ...within('api/verify/verification-data.ts', 'test/api/verification-data.test.ts', [
    [
      'only a missing patch is brought',
      "id === 'subject-patchset' && status === 'missing'",
      "id === 'subject-patchset'",
      'a patch that is not here',
    ],
  ]),
  ...within('engine/patch/apply-patch.ts', 'test/engine/patch/refusals.test.ts', [
    [
      'a binary file needs another form',
      "reason.includes('without full index line')",
      "reason === ''",
      'a binary file of which',
    ],
  ]),
];
