/** Where a run may write. Plain data, safe to send to a worker. Patterns are relative to the repository root. */
export interface Scope {
  readonly write: readonly string[];
  readonly forbidden: readonly string[];
  /** True if the spec names no path at all: everything that is not forbidden is in scope. */
  readonly wholeRepository: boolean;
}
