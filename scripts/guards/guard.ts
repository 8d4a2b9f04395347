/**
 * One guard of the verifier or of the service: the text that is it, what stands there when it is gone, and the test
 * that then has to fail.
 */
export interface Guard {
  /** What it guards against. */
  readonly guard: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** File of tests. */
  readonly test: string;
  /** Begins the name of a test in it. */
  readonly fails: string;
}

/** Tests that notice. */
export const tests = {
  nothing: 'test/attack/nothing-verified.test.ts',
  hostile: 'test/attack/hostile-input.test.ts',
  mutation: 'test/attack/mutation.test.ts',
  attacks: 'test/attest/verify/attacks.test.ts',
  statements: 'test/attest/verify/statements.test.ts',
  approvals: 'test/attest/verify/approvals.test.ts',
} as const;

/** Guards of one file, noticed by one file of tests. */
export function within(
  file: string,
  test: string,
  rows: readonly (readonly [guard: string, from: string, to: string, fails: string])[],
): readonly Guard[] {
  return rows.map(([guard, from, to, fails]) => ({ guard, file, from, to, test, fails }));
}
