import type { Unscanned } from '../../../gates/scan/diff-piece.ts';
import type { Redacted } from '../../../readers/sensitive/redact.ts';
import type { RedactorOptions } from '../../../readers/sensitive/redactor.ts';
import type { Finding } from '../../contract/finding.ts';
import type { PatchFile } from '../../contract/patch-set.ts';
import type { RuleInput } from '../../contract/rule.ts';

/** Every task that a worker thread knows: what goes in, what comes back. Both cross by structured clone. */
export interface TaskMap {
  readonly 'find-candidates': { readonly input: CandidateTask; readonly output: Candidates };
  readonly 'judge-rule': { readonly input: RuleTask; readonly output: readonly Finding[] };
  readonly redact: {
    readonly input: { readonly bytes: Uint8Array; readonly options: RedactorOptions };
    readonly output: Redacted;
  };
}

export type TaskName = keyof TaskMap;

/** A rule's module and what it is asked. */
export interface RuleTask {
  readonly id: string;
  /** File URL. */
  readonly module: string;
  readonly input: RuleInput;
}

/** Which changed files rules have to be asked about. */
export interface CandidateTask {
  /** What every rule is asked with, but for its own options. */
  readonly input: Omit<RuleInput, 'options'>;
  /** The files of the patch are not known: they are read from its diff. */
  readonly readsFiles: boolean;
  /** The diff's last file goes on elsewhere. */
  readonly isCut: boolean;
  /** Somebody besides `rules` has to be asked about every file. */
  readonly needsAll: boolean;
  readonly rules: readonly Pick<RuleTask, 'id' | 'module'>[];
  readonly options: Readonly<Record<string, RuleInput['options']>>;
}

export interface Candidates {
  /** All that somebody has to be asked about, in the order of the patch. */
  readonly files: readonly PatchFile[];
  /** By rule id: places in `files`, in order. A rule that cannot tell is not in it and has to be asked about all. */
  readonly chosen: Readonly<Record<string, readonly number[]>>;
  /** In the patch. */
  readonly fileCount: number;
  readonly addedLines: number;
  /** Parts of a diff of somebody else's that no reader of hunks sees. */
  readonly unread: readonly Unscanned[];
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
