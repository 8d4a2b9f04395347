/* The error class with catalogued codes. */
import { type ErrorCode, errorCatalogue, hintsOf } from './error-codes.ts';

/** Facts about a fault: JSON-safe, bounded, free of secrets. */
export type ErrorDetail = Readonly<Record<string, unknown>>;

export interface WritErrorOptions {
  /** What was found, beyond the catalogue's sentence; lower case, no full stop. */
  readonly message?: string;
  readonly detail?: ErrorDetail;
  /** Next steps for the reader, one sentence each. */
  readonly hints?: readonly string[];
  readonly cause?: unknown;
}

const brand = Symbol.for('writ.error');

/**
 * The one error class. A fault carries a catalogued code; bad outcomes are values and never thrown. The package holds
 * several programs, each with this class in it: `instanceof` knows the faults of all of them.
 */
export class WritError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }

  readonly [brand] = true;
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;
  readonly hints: readonly string[];

  constructor(code: ErrorCode, options: WritErrorOptions = {}) {
    const entry = errorCatalogue[code];
    super(
      options.message ?? entry.message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.name = 'WritError';
    this.code = code;
    this.detail = options.detail ?? {};
    this.hints = options.hints ?? hintsOf(code, this.detail);
  }

  /** Process exit code of this error, from the catalogue. */
  get exitCode(): number {
    return errorCatalogue[this.code].exit;
  }
}

/** Narrows to WritError; with `code`, to that code. */
export function isWritError(value: unknown, code?: ErrorCode): value is WritError {
  return value instanceof WritError && (code === undefined || value.code === code);
}

/** Message of a thrown value, never its stack. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
