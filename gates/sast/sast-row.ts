import type { Hit } from '../direct-eval/hit.ts';

/**
 * One thing that our own static analysis looks for. `error` where the form alone tells that it is wrong, `warning`
 * where that hangs on the value or on what it is used for.
 */
export interface SastRow {
  /** `sast/<language>-<what>`. */
  readonly id: string;
  /** Number in the Common Weakness Enumeration. */
  readonly cwe: number;
  readonly severity: 'error' | 'warning';
  /** What it does, as the rest of a sentence that starts with the call. */
  readonly why: string;
  readonly instead: string;
  /** One of these bytes stands in every change that this row hits by its own words. */
  readonly words: readonly string[];
  /** One of these stands elsewhere in a file in which a change reaches it by another name. */
  readonly origins?: readonly string[];
}

/** A place that a row is about. */
export interface SastHit extends Hit {
  /** Its `id`. */
  readonly row: string;
}
