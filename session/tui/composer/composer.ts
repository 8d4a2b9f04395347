/* The state of the composer, its queue of messages and its draft. */
import { type Buffer, emptyBuffer, load, noFolds, plainText, whole } from './buffer.ts';
import type { Completion, OfferedCommand } from './completion.ts';
import { asWritten, emptyHistory, type History, isChanged, remember, withEarlier } from './history.ts';
import type { OwnKeys } from './own-keys.ts';

export interface Composer {
  readonly buffer: Buffer;
  readonly history: History;
  readonly search: Search | undefined;
  readonly completion: Completion | undefined;
  /** Start of the token with a completion list that was closed. The list stays closed. */
  readonly closed: number | undefined;
  readonly queue: readonly string[];
  readonly notice: string | undefined;
  /** The previous key, if a second one has another meaning. */
  readonly armed: 'quit' | 'go-back' | 'ctrl-x' | undefined;
  readonly asked: number;
  /** With vim keys: the keys of a command that is not complete; absent while text is inserted. */
  readonly normal?: string | undefined;
}

/** A search backwards through history. The text stays until a result is accepted. */
export interface Search {
  readonly words: string;
  readonly found: number | undefined;
  readonly hasFailed: boolean;
}

export interface Context {
  readonly busy: boolean;
  /** The last turn was an answer, of which a change can be drafted. */
  readonly answered?: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly commands: readonly OfferedCommand[];
  readonly own?: OwnKeys;
}

export type PlainEffect =
  | 'interrupt'
  | 'go-back'
  | 'cycle-context'
  | 'quit'
  | 'suspend'
  | 'help'
  | 'redraw'
  | 'take-back';

/** What a key needs that a composer cannot do itself. */
export type ComposerEffect =
  | { readonly type: 'submit'; readonly text: string }
  /** The text in an editor of the person's own; `edited` with what came back. */
  | { readonly type: 'edit-outside'; readonly text: string }
  /** Paths that begin so; `offered` with the same id. */
  | { readonly type: 'complete-path'; readonly prefix: string; readonly id: number }
  | { readonly type: PlainEffect };

export interface Outcome {
  readonly composer: Composer;
  readonly effects: readonly ComposerEffect[];
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

export function only(composer: Composer): Outcome {
  return { composer, effects: [] };
}

export function asks(composer: Composer, ...effects: readonly ComposerEffect[]): Outcome {
  return { composer, effects };
}

const mostQueued = 50;
const nothing = { text: '', folds: noFolds };

/**
 * Sends the text. While a turn runs, words wait for its end and a command goes at once. A text that is too long stays,
 * with a notice.
 */
export function send(composer: Composer, { busy }: Context): Outcome {
  const text = whole(composer.buffer);
  if (text.trim() === '') return only(composer);
  const notice = refusalOf(text);
  if (notice !== undefined) return only({ ...composer, notice });
  if (/^\s*!\s*$/.test(text)) return only({ ...composer, notice: 'type a command behind the !' });
  if (busy && !text.trimStart().startsWith('/')) return enqueue(composer);
  return asks(cleared(composer), { type: 'submit', text });
}

export function enqueue(composer: Composer): Outcome {
  const text = whole(composer.buffer);
  const notice = refusalOf(text);
  if (notice !== undefined) return only({ ...composer, notice });
  if (composer.queue.length >= mostQueued)
    return only({
      ...composer,
      notice: `${mostQueued} messages wait already; nothing is lost, send it later`,
    });
  return only({ ...cleared(composer), queue: [...composer.queue, text] });
}

export function turnEnded(composer: Composer): Outcome {
  const [first, ...queue] = composer.queue;
  return first === undefined ? only(composer) : asks({ ...composer, queue }, { type: 'submit', text: first });
}

export function takeBack(composer: Composer): Composer | undefined {
  const last = composer.queue.at(-1);
  if (last === undefined) return undefined;
  return {
    ...composer,
    queue: composer.queue.slice(0, -1),
    buffer: load(composer.buffer, asWritten(composer.history, last)),
  };
}

/** Moves all queued messages back into the composer: after an interrupt, writ sends none automatically. */
export function takeAllBack(composer: Composer): Composer {
  if (composer.queue.length === 0) return composer;
  const { buffer } = composer;
  const before = composer.queue.map((text) => `${text}\n`).join('');
  const text = buffer.text === '' ? before.slice(0, -1) : before + buffer.text;
  return { ...composer, queue: [], buffer: load(buffer, { text, folds: buffer.folds }) };
}

export function cleared(composer: Composer): Composer {
  const { buffer, history } = composer;
  return {
    ...composer,
    history: remember(history, buffer),
    buffer: load(buffer, nothing),
    completion: undefined,
    closed: undefined,
    normal: undefined,
  };
}

/** Octets of a message: what is too long for a question is attached as text. */
const messageLimits = { octets: 1024 * 1024 } as const;

function refusalOf(text: string): string | undefined {
  const octets = octetsOf(text);
  if (octets > messageLimits.octets)
    return `too long to be sent: ${kib(octets)} KiB of at most ${kib(messageLimits.octets)} KiB; nothing is lost, shorten it`;
  return undefined;
}

function octetsOf(text: string): number {
  return text.length > messageLimits.octets ? text.length : new TextEncoder().encode(text).length;
}

function kib(octets: number): string {
  return Math.ceil(octets / 1024).toLocaleString('en-US');
}

/** Text that was typed and not sent; it outlives the screen. */
export interface Draft {
  readonly unsent: readonly string[];
  /** Text that was cleared, deleted or given to the screen alone; oldest first. */
  readonly typed: readonly string[];
}

/** Texts of a history that are kept beside what a transcript holds. */
const mostTyped = 50;

/** Messages that wait, and the text that is being written. An older text from history is neither. */
export function unsentOf({ queue, buffer, history }: Composer): readonly string[] {
  const left = history.drafts.get(history.entries.length);
  const texts = [
    ...(left === undefined || history.at === history.entries.length ? [] : [whole(left)]),
    ...(isChanged(history, buffer) ? [whole(buffer)] : []),
  ];
  return [...queue, ...texts.filter((text) => text.trim() !== '')];
}

export function draftOf(composer: Composer, said: readonly string[]): Draft {
  const known = new Set(said);
  const { entries } = composer.history;
  const killed = whole({ text: composer.buffer.killed, folds: composer.buffer.folds });
  const typed = [...entries.map(({ text }) => text), killed].filter(
    (text) => text.trim() !== '' && !known.has(text),
  );
  return { unsent: unsentOf(composer), typed: typed.slice(-mostTyped) };
}

/** Adds earlier messages to the history and restores unsent text. Called once. */
export function withDraft(composer: Composer, said: readonly string[], draft: Draft | undefined): Composer {
  const { history: before, search, buffer } = composer;
  const history = withEarlier(before, [...said, ...(draft?.typed ?? [])]);
  const found = search?.found === undefined ? undefined : search.found + history.at - before.at;
  const next = { ...composer, history, search: search === undefined ? undefined : { ...search, found } };
  const unsent = draft?.unsent ?? [];
  if (unsent.length === 0) return next;
  const again = unsent.map((text) => plainText(text)).join('\n');
  const text = buffer.text === '' ? again : `${again}\n${buffer.text}`;
  return {
    ...next,
    buffer: load(buffer, { text, folds: buffer.text === '' ? noFolds : buffer.folds }),
    notice: 'this was not sent before; Ctrl+C clears it, and Up brings it back',
  };
}
