import { type Buffer, emptyBuffer } from './buffer.ts';
import type { Completion, OfferedCommand } from './completion.ts';
import { emptyHistory, type History } from './history.ts';

/** What a person is writing, and what is open around it. */
export interface Composer {
  readonly buffer: Buffer;
  readonly history: History;
  readonly search: Search | undefined;
  readonly completion: Completion | undefined;
  /** Where the token begins whose list was closed: it stays closed. */
  readonly closed: number | undefined;
  /** Messages that wait for the end of the turn, in order. */
  readonly queue: readonly string[];
  /** Said until the next key: why something was refused, or what a second key does. */
  readonly notice: string | undefined;
  /** The key before, where a second one means something else. */
  readonly armed: 'quit' | 'go-back' | 'ctrl-x' | undefined;
  /** Questions for paths so far. */
  readonly asked: number;
}

/** A search backwards through what was written; the text stays as it is until something found is taken. */
export interface Search {
  readonly words: string;
  /** Which entry is found; `undefined` before the first letter. */
  readonly found: number | undefined;
  readonly hasFailed: boolean;
}

export interface Context {
  /** A turn is at work. */
  readonly busy: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly commands: readonly OfferedCommand[];
}

/** What says all by its name. */
export type PlainEffect =
  | 'interrupt'
  | 'go-back'
  | 'cycle-context'
  | 'quit'
  | 'suspend'
  | 'help'
  | 'redraw'
  | 'take-back';

/** What a key asks for that a composer cannot do itself. */
export type Effect =
  /** To the session; `giveBack` where it refuses. */
  | { readonly type: 'submit'; readonly text: string }
  /** The text in an editor of the person's own; `edited` with what came back. */
  | { readonly type: 'edit-outside'; readonly text: string }
  /** Paths that begin so; `offered` with the same id. */
  | { readonly type: 'complete-path'; readonly prefix: string; readonly id: number }
  | { readonly type: PlainEffect };

export interface Outcome {
  readonly composer: Composer;
  readonly effects: readonly Effect[];
}

export const emptyComposer: Composer = {
  buffer: emptyBuffer,
  history: emptyHistory,
  search: undefined,
  completion: undefined,
  closed: undefined,
  queue: [],
  notice: undefined,
  armed: undefined,
  asked: 0,
};

/** A composer and nothing else to do. */
export function only(composer: Composer): Outcome {
  return { composer, effects: [] };
}

/** A composer, and what its caller has to do. */
export function asks(composer: Composer, ...effects: readonly Effect[]): Outcome {
  return { composer, effects };
}
