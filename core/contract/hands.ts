import type { CodeUse } from './code-use.ts';

/** What a worker may ask to be done in the workspace of its attempt. Paths are relative to it, or absolute in it. */
export type HandUse =
  /** Text of a file, its lines numbered: as many as asked for and as fit, from `fromLine` (the first is 1). */
  | { readonly kind: 'read'; readonly path: string; readonly fromLine?: number; readonly lines?: number }
  | { readonly kind: 'list'; readonly path: string }
  /** Lines that match a POSIX extended regular expression. */
  | { readonly kind: 'search'; readonly pattern: string; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: 'delete'; readonly path: string }
  /** A question to version control: a subcommand, and its arguments as words. */
  | { readonly kind: 'vcs'; readonly command: string; readonly args: readonly string[] }
  /** Shell text, in the sandbox. */
  | { readonly kind: 'execute'; readonly command: string; readonly timeoutSeconds?: number }
  | CodeUse;

/** What came of it: `text` is what a model may read of it, untrusted wherever it holds what a file or program said. */
export interface HandAnswer {
  readonly outcome: 'done' | 'denied' | 'failed';
  readonly text: string;
  /**
   * Of a file that was read whole: its bytes as they are, with what is masked in `text`. For the worker's own work on
   * it, never for a model.
   */
  readonly bytes?: Uint8Array;
  readonly exitCode?: number;
  /** What the sandbox kept a command that failed from, as far as that can be told. */
  readonly heldBack?: string;
}

/**
 * The only way to the files of an attempt: every use is judged by the contract's tool rules, its scope and every guard
 * before it happens (resolutions, Who judges a tool call). One at a time; a refusal is an answer.
 */
export interface Hands {
  /** Whether a rule of the contract opens version control; absent: no. */
  readonly seesHistory?: boolean;
  use(use: HandUse): Promise<HandAnswer>;
}
