import { type Guard, within } from './guard.ts';

const elsewhere = 'test/attack/journal/elsewhere.test.ts';
const range = 'a range goes on where its commits never came';

/** What is taken over from a runner, and what goes on without his clone. */
export const guards: readonly Guard[] = [
  ...within('engine/run/open/adopt-journal.ts', elsewhere, [
    [
      'a policy that the contract chose names no runner',
      'if (ground.foreign !== undefined) return false;',
      '',
      'a runner whom only the contract’s own choice',
    ],
  ]),
  ...within('engine/run/open/claimed-wording.ts', elsewhere, [
    ['commits of a range may be elsewhere', "if (found?.type !== 'commit') return {};", '', range],
  ]),
  ...within('engine/run/open/reopen-landing.ts', elsewhere, [
    [
      'a branch may be tracked here and local there',
      '!isSameBranch(now.ref, policy.ref)',
      'now.ref !== policy.ref',
      range,
    ],
  ]),
  ...within('engine/run/open/reopen-landing.ts', 'test/attack/policy/resume.test.ts', [
    [
      'the start of a change may not be in a shallow clone',
      "if (start?.type !== 'commit') {",
      'if (false) {',
      'how far a change is behind',
    ],
  ]),
];
