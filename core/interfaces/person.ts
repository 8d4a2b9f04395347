/* The person who controls a session, as the engine sees them. */
import type { Finding } from './finding.ts';
import type { ToolRequest } from './hook-payload.ts';
import type { PersonQuestion } from './worker.ts';

/** Content of a file before and after a use; absent if the file does not exist. */
export interface FileChange {
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
  /** Why neither content can be shown. */
  readonly unseen?: string;
}

/** `undefined`: the use changes no file. */
export type LookAtChange = () => Promise<FileChange | undefined>;

/** The person who controls the session of a run. Waits without a deadline; rejects with the reason of the signal. */
export interface Person {
  /**
   * Returns why the person denies a use that rules, scope and guards allow, or `undefined` to allow it. `change`
   * computes the use's effect on its file, when a person is to see it.
   */
  consent(use: ToolRequest, signal: AbortSignal, change?: LookAtChange): Promise<Finding | undefined>;
  /** The answer is untrusted, like all external text. `undefined` if no one answers. */
  answer(question: PersonQuestion, signal: AbortSignal): Promise<string | undefined>;
}
