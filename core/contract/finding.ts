export type Severity = 'error' | 'warning' | 'note';

/**
 * One thing a rule found. An `error` fails the gate; `warning` and `note` are reported. Lines and columns count from 1.
 */
export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  /** What was expected and found, JSON-safe. */
  readonly detail?: Readonly<Record<string, unknown>>;
}
