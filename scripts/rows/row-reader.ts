import type { ContractRow } from '../../engine/spec/contract-row.ts';
import type { Removal } from '../removal/removal.ts';

/**
 * The one place where the product acts on a row of the contract, and what stands there when it no longer does. The test
 * is the row's own.
 */
export interface RowReader {
  /** Id of the row. */
  readonly row: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** Begins the name of a test in the row's file of tests, of a subtest in it, and so on. A run case needs none. */
  readonly fails: readonly string[];
}

/** Readers that stand in one file, in few words: row, text, what stands there instead, names of what fails. */
export function readersIn(
  file: string,
  rows: readonly (readonly [row: string, from: string, to: string, ...fails: string[]])[],
): readonly RowReader[] {
  return rows.map(([row, from, to, ...fails]) => ({ row, file, from, to, fails }));
}

const cases = 'fixtures/runs/';

/** What breaks a row, and the test that then has to fail: the row's own. */
export function toRemoval({ row, file, from, to, fails }: RowReader, { test = '' }: ContractRow): Removal {
  const own = test.startsWith(cases)
    ? {
        test: 'test/engine/run/run-cases.test.ts',
        fails: ['whole runs', test.slice(cases.length).replaceAll('-', ' ')],
      }
    : { test, fails };
  return { name: row, file, from, to, ...own };
}
