import { type Guard, within } from './guard.ts';

const test = 'test/engine/run/judge/new-tests-ran.test.ts';

/** A fix brings a test that a fast suite runs. */
export const guards: readonly Guard[] = [
  ...within('engine/run/judge/ran-among.ts', test, [
    ['a skipped test did not run', '!idle.has(name)', 'true', 'a case ran where a name'],
    ['names that are worked out', "isWorkedOut(name) ? '' : ", '', 'what cannot be looked for'],
    ['a report without names', 'executed.names.size === 0', 'false', 'what cannot be looked for'],
  ]),
  ...within('engine/run/judge/new-tests-ran.ts', test, [
    [
      'any suite that ran a new case',
      "noted.some((one) => one?.ran !== 'did-not-run')",
      'false',
      'a stage is refused where every suite',
    ],
    [
      'languages whose runners name cases as written',
      'cases.every(({ language }) => named.has(language))',
      'true',
      'a stage is refused where every suite',
    ],
  ]),
];
