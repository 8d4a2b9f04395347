import type { Finding } from './finding.ts';
import type { ToolRequest } from './hook-payload.ts';
import type { PersonQuestion } from './person-question.ts';

/** What a file holds before and after a use; absent: the file is not there. */
export interface FileChange {
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
  /** Why neither can be shown. */
  readonly unseen?: string;
}

/** `undefined`: the use changes no file. */
export type LookAtChange = () => Promise<FileChange | undefined>;

/**
 * Whoever controls the session that a run works for (document 2, Approval policies). Waits as long as it takes; rejects
 * with the reason of the signal.
 */
export interface Person {
  /**
   * Why a use that rules, scope and guards let through is not made all the same; `undefined`: it is. `change`: what it
   * would make of its file, looked up where somebody is to be shown it.
   */
  consent(use: ToolRequest, signal: AbortSignal, change?: LookAtChange): Promise<Finding | undefined>;
  /** Untrusted like any other text from outside; `undefined` where nobody answers. */
  answer(question: PersonQuestion, signal: AbortSignal): Promise<string | undefined>;
}
