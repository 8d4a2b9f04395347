import type { Finding } from '../contract/finding.ts';
import type { RuleInput } from '../contract/rule.ts';
import type { DiffPiece } from '../scan/diff-piece.ts';

/** Every task that a worker thread knows: what goes in, what comes back. Both cross by structured clone. */
export interface TaskMap {
  readonly 'count-added': { readonly input: DiffPiece; readonly output: number };
  readonly 'judge-rule': { readonly input: RuleTask; readonly output: readonly Finding[] };
}

export type TaskName = keyof TaskMap;

/** A rule's module and what it is asked. */
export interface RuleTask {
  readonly id: string;
  /** File URL. */
  readonly module: string;
  readonly input: RuleInput;
}

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

/** How one task function looks inside a worker. */
export type TaskTable = {
  readonly [Name in TaskName]: (input: TaskMap[Name]['input']) => Promise<TaskMap[Name]['output']>;
};

/** What crosses to a worker. */
export interface TaskCall {
  readonly name: TaskName;
  readonly input: TaskMap[TaskName]['input'];
}
