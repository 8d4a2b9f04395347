/**
 * A text of the product that something hangs on, what stands there when that is gone, and the test that has to fail.
 */
export interface Removal {
  /** What hangs on it. */
  readonly name: string;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** File of tests. */
  readonly test: string;
  /** Begins the names of a test in it, of a subtest in that, of an assertion in that; at least the first. */
  readonly fails: readonly string[];
}
