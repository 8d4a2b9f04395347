import { type Guard, tests, within } from './guard.ts';

const { nothing } = tests;

/** What keeps leniency towards genuine material from letting a forgery pass. */
export const materialGuards: readonly Guard[] = [
  ...within('attest/verify/match-subject.ts', nothing, [
    [
      'something must be at hand',
      "throw unavailable('missing', { expected: 'what it is about (`--artifact FILE`)', found });",
      "return { commit: '' };",
      'a bundle about something',
    ],
    [
      'artifacts are subjects',
      "if (answers.includes('same')) continue;",
      'if (answers.length > 0) continue;',
      'an artifact that is no subject',
    ],
  ]),
  ...within('attest/verify/verify-entries.ts', nothing, [
    [
      'a log where one was asked for',
      "if (demanded && !isByTimeOnly) list.settle('log', 'missing', 'not-logged');\n    else",
      '',
      'a bundle without a log entry',
    ],
  ]),
];
