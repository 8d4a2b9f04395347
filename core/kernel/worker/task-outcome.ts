/** Why a task has no value. `deadline` and `aborted` ended its thread; `crashed` means that the thread ended itself. */
export type TaskFailure = 'threw' | 'deadline' | 'aborted' | 'crashed' | 'unsendable';

/** An error as a record: the thread it came from may be gone. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
}

/** How a task ended. */
export type TaskOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: TaskFailure; readonly error: ErrorRecord };

/** What crosses to a worker. */
export interface TaskCall {
  /** File URL of the module that exports `run`. */
  readonly module: string;
  readonly input: unknown;
}
