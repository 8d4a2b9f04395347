import { type Guard, within } from './guard.ts';

/** Hostile source is matched in time that grows as it does. */
export const guards: readonly Guard[] = [
  ...within('readers/source/query/parse-query.ts', 'test/readers/source/query.test.ts', [
    [
      'one child of which each makes a match',
      "many === '' && !place).length > 1)",
      "many === '' && !place).length > 9)",
      'a query that is not read',
    ],
  ]),
];
