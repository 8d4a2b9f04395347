import { type Guard, within } from './guard.ts';

const reasons = 'test/api/policy-reasons.test.ts';

/** What the first line of a report holds. */
export const guards: readonly Guard[] = [
  ...within('api/run/verdict.ts', reasons, [
    [
      'the first line holds the reasons',
      'const reasons = policyReasons(view);',
      'const reasons: readonly string[] = policyReasons(view).slice(0, 0);',
      'the first line of a run that waits',
    ],
    [
      'enough approvals are gone on with',
      'isDecided ? [resume, approve] : [approve, resume]',
      '[approve, resume]',
      'without a check',
    ],
  ]),
  ...within('api/run/policy-reasons.ts', reasons, [
    [
      'who is known comes first',
      "...others.filter(({ principal }) => principal !== ''),",
      '',
      'the first line of a run that waits',
    ],
    [
      'an approval from outside of a group',
      'held.every((check) => countsFor(check, one))',
      'true',
      'who approved from outside',
    ],
  ]),
  ...within('engine/run/state/checks-without-use.ts', 'test/engine/run/state/checks-with-factors.test.ts', [
    [
      'tables of checks that there are',
      'filter((id) => !known.has(id))',
      'filter(() => true)',
      'a table of a check that the run has not',
    ],
  ]),
];
