import { borderAtOrAfter } from './borders.ts';
import { type Folded, type Folds, heldBy, noFolds, whole } from './folds.ts';

/** Text that is being written. The cursor is always on the border of a grapheme, in UTF-16 units. */
export interface Buffer extends Folded {
  readonly cursor: number;
  /** The column that moves over rows go back to, in cells. */
  readonly column: number | undefined;
  /** What Ctrl+Y inserts. */
  readonly killed: string;
  /** What can be undone, the newest last, and what was undone. */
  readonly done: readonly Change[];
  readonly undone: readonly Change[];
  /** What the last key did: keys of one kind are undone, or killed, together. */
  readonly last: Kind | undefined;
}

export interface Change {
  readonly at: number;
  readonly removed: string;
  readonly inserted: string;
  readonly cursor: number;
}

type Kind = 'typed' | 'edited' | 'killed';

/** Characters of a composer with its pastes, of what can be undone, and steps of that. */
export const bufferLimits = { characters: 4 * 1024 * 1024, undone: 32 * 1024 * 1024, steps: 500 } as const;

export const emptyBuffer: Buffer = {
  text: '',
  folds: noFolds,
  cursor: 0,
  column: undefined,
  killed: '',
  done: [],
  undone: [],
  last: undefined,
};

/** A buffer of another text, the cursor at its end. What was killed before can still be yanked. */
export function load(buffer: Buffer, { text, folds }: Folded): Buffer {
  const killed = whole({ text: buffer.killed, folds: buffer.folds });
  return { ...emptyBuffer, text, folds, killed, cursor: text.length };
}

/** Characters that it holds, each paste at its length. */
export function sizeOf({ text, folds }: Folded): number {
  let size = text.length;
  for (const fold of folds.values()) size += fold.text.length;
  return size;
}

/** Puts `inserted` in the place of what stands there; the cursor behind it. Both ends are borders of graphemes. */
export function change(buffer: Buffer, from: number, to: number, inserted: string, kind: Kind): Buffer {
  if (from === to && inserted === '') return buffer;
  const removed = buffer.text.slice(from, to);
  const text = buffer.text.slice(0, from) + inserted + buffer.text.slice(to);
  return {
    ...buffer,
    text,
    cursor: borderAtOrAfter(text, from + inserted.length),
    column: undefined,
    done: recorded(buffer, { at: from, removed, inserted, cursor: buffer.cursor }, kind),
    undone: [],
    last: kind,
  };
}

/** The same text with the cursor elsewhere, at a border of a grapheme. */
export function moved(buffer: Buffer, cursor: number, column?: number): Buffer {
  return { ...buffer, cursor, column, last: undefined };
}

export function undo(buffer: Buffer): Buffer {
  const last = buffer.done.at(-1);
  if (last === undefined) return buffer;
  const { at, removed, inserted } = last;
  const text = buffer.text.slice(0, at) + removed + buffer.text.slice(at + inserted.length);
  const [done, undone] = [buffer.done.slice(0, -1), [...buffer.undone, last]];
  return { ...moved(buffer, borderAtOrAfter(text, Math.min(last.cursor, text.length))), text, done, undone };
}

export function redo(buffer: Buffer): Buffer {
  const last = buffer.undone.at(-1);
  if (last === undefined) return buffer;
  const { at, removed, inserted } = last;
  const text = buffer.text.slice(0, at) + inserted + buffer.text.slice(at + removed.length);
  const [done, undone] = [[...buffer.done, last], buffer.undone.slice(0, -1)];
  return { ...moved(buffer, borderAtOrAfter(text, at + inserted.length)), text, done, undone };
}

/** Without the pastes that neither the text nor an undo nor a yank can bring back. */
export function withoutLeftovers(buffer: Buffer): Buffer {
  const changes = [...buffer.done, ...buffer.undone];
  const texts = [
    buffer.text,
    buffer.killed,
    ...changes.flatMap(({ removed, inserted }) => [removed, inserted]),
  ];
  const folds: Folds = heldBy(buffer.folds, texts);
  return { ...buffer, folds };
}

/** Words typed in one go are undone word by word, the rest step by step. */
function recorded({ done, last, text }: Buffer, next: Change, kind: Kind): readonly Change[] {
  const before = done.at(-1);
  const goesOn =
    before !== undefined &&
    kind === 'typed' &&
    last === 'typed' &&
    next.removed === '' &&
    before.at + before.inserted.length === next.at &&
    !/^\s/.test(next.inserted);
  if (goesOn) return [...done.slice(0, -1), { ...before, inserted: before.inserted + next.inserted }];
  // A slice of a long text may keep all of that text in memory.
  const steps = Math.max(
    8,
    Math.min(bufferLimits.steps, Math.floor(bufferLimits.undone / (text.length + 1))),
  );
  return [...done.slice(1 - steps), next];
}
