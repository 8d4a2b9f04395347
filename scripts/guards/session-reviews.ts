import { type Guard, within } from './guard.ts';

const reviews = 'test/session/work/reviews.test.ts';
const without = 'test/engine/patch/patch-without.test.ts';
const walk = 'test/session/state/walk.test.ts';

/** What holds of hunks that people review. */
export const guards: readonly Guard[] = [
  ...within('session/state/review.ts', walk, [
    [
      'what is committed is kept',
      "if (shown.status === 'accepted')",
      'if (shown.status === null)',
      'seven commands',
    ],
  ]),
  ...within('session/state/review.ts', reviews, [
    [
      'a hunk that is not there is not reviewed',
      'if (change.hunks?.some(({ id }) => id === hunk) !== true)',
      'if (change.hunks?.length === -1)',
      'what a run made',
    ],
    [
      'a comment holds nothing that steers a terminal',
      '!/(?!\\n)\\p{Cc}/u.test(text)',
      'true',
      'what a run made',
    ],
  ]),
  ...within('session/work/plan-step.ts', reviews, [
    [
      'what was rejected is told with the next plan',
      'remarks: reviewed === undefined ? remarks : [...remarks, reviewed.text],',
      'remarks,',
      'what is said of hunks',
    ],
  ]),
  ...within('session/work/tell-reviews.ts', reviews, [
    ['it is told once', 'return !isTold && ', 'return isTold !== null && ', 'what a run made'],
  ]),
  ...within('engine/patch/patch-without.ts', without, [
    [
      'hunks behind one that is gone are found where they stand',
      'newLine: newLine - gone',
      'newLine',
      'any hunks',
    ],
    [
      'a file of which nothing is left is not touched',
      'if (hunks.length === 0 ? rejected.has(id) : left.length === 0) continue;',
      'if (rejected.has(id)) continue;',
      'what has no lines',
    ],
  ]),
  ...within('engine/patch/hunk-ids.ts', without, [
    [
      'hunks that are alike are told apart',
      'const times = seen.get(digest) ?? 0;',
      'const times = 0;',
      'any hunks',
    ],
  ]),
  ...within('session/channel/mask-words.ts', 'test/session/work/canaries.test.ts', [
    [
      'comments are masked',
      'return comment === undefined ? command : { ...command, comment: mask(comment) };',
      'return command;',
      'no byte that',
    ],
  ]),
];
