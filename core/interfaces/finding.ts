/* Findings, issues, refusals and differences. */
export type Severity = 'error' | 'warning' | 'note';

/** One finding of a rule. An `error` fails the gate; others are reported. Lines and columns count from 1. */
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

/** One fault of a spec. `path` is a JSON Pointer into the author's document. */
export interface Issue {
  readonly code: string;
  readonly path: string;
  /** What was expected, what was found. */
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

export function error(code: string, path: string, message: string): Issue {
  return { code, path, message, severity: 'error' };
}

/** Builds an issue of severity `warning`. It is reported and does not reject the spec. */
export function warning(code: string, path: string, message: string): Issue {
  return { code, path, message, severity: 'warning' };
}

/** Refusal by a guard. The engine adds plugin and hook. Lines count from 1. */
export interface Refusal {
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  /** What was expected and found, JSON-safe. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** The first difference between stored records and what is derived from them. */
export interface Difference {
  readonly file: string;
  /** JSON pointer into it; '' for the file as a whole. */
  readonly field: string;
  /** As JSON text, or in words. */
  readonly expected: string;
  readonly found: string;
}
