/* Handles keys of the composer: editing, history, search, completion and sending. */
import type { Key } from '../term/painter.ts';
import {
  type Buffer,
  borderBefore,
  bufferLimits,
  change,
  insert,
  isLong,
  load,
  moved,
  paste,
  plainText,
  whole,
} from './buffer.ts';
import { type Choice, type Completion, chooseBy, completionFor, withOffered } from './completion.ts';
import {
  asks,
  type Composer,
  type Context,
  cleared,
  enqueue,
  type Outcome,
  only,
  type PlainEffect,
  type Search,
  send,
  takeAllBack,
  takeBack,
} from './composer.ts';
import { columnOf, placeAt, rowsAround, textWidth } from './draw-composer.ts';
import { chordOf, editKeys } from './edit-keys.ts';
import { asWritten, findBefore, isChanged, leaf, showFound } from './history.ts';
import { onCharacter, vimKey } from './own-keys.ts';

const mostWords = 256;

function beginSearch(composer: Composer): Composer {
  const search = { words: '', found: undefined, hasFailed: false };
  return { ...composer, search, completion: undefined };
}

/** A key while history is searched. If `isDone` is false, the key still has to be handled, as a key of the text. */
function searchKey(
  composer: Composer,
  search: Search,
  key: Key,
): { readonly composer: Composer; readonly isDone: boolean } {
  const done = (next: Composer) => ({ composer: next, isDone: true });
  if (key.type === 'paste' && (key.text.length > mostWords || key.text.includes('\n')))
    return { composer: { ...composer, search: undefined }, isDone: false };
  if (key.type !== 'key') {
    const words = (search.words + plainText(key.text).replaceAll('\n', ' '))
      .slice(0, mostWords)
      .toWellFormed();
    return done({ ...composer, search: sought(composer, words, composer.history.entries.length) });
  }
  switch (chordOf(key)) {
    case 'escape':
    case 'ctrl+g':
    case 'ctrl+c':
      return done({ ...composer, search: undefined });
    case 'enter':
    case 'tab':
      return done(withFound(composer, search));
    case 'ctrl+r':
    case 'up':
      return done({ ...composer, search: older(composer, search) });
    case 'backspace':
    case 'ctrl+h': {
      const words = search.words.slice(0, borderBefore(search.words, search.words.length));
      return done({ ...composer, search: sought(composer, words, composer.history.entries.length) });
    }
    default:
      return { composer: withFound(composer, search), isDone: false };
  }
}

function sought(composer: Composer, words: string, from: number): Search {
  if (words === '') return { words, found: undefined, hasFailed: false };
  const found = findBefore(composer.history, words, from);
  return { words, found, hasFailed: found === undefined };
}

function older(composer: Composer, search: Search): Search {
  if (search.words === '' || search.found === undefined) return search;
  const shown = composer.history.entries[search.found]?.text;
  let next = findBefore(composer.history, search.words, search.found - 1);
  while (next !== undefined && composer.history.entries[next]?.text === shown)
    next = findBefore(composer.history, search.words, next - 1);
  return next === undefined ? { ...search, hasFailed: true } : { ...search, found: next, hasFailed: false };
}

function withFound(composer: Composer, search: Search): Composer {
  if (search.found === undefined) return { ...composer, search: undefined };
  const { history, shown } = showFound(composer.history, composer.buffer, search.found);
  return { ...composer, search: undefined, closed: undefined, history, buffer: load(composer.buffer, shown) };
}

const tooMuch = `too much: a composer holds ${bufferLimits.characters.toLocaleString('en-US')} characters; nothing changed`;

/** Handles a key or a paste. Pure. */
export function press(composer: Composer, key: Key, context: Context): Outcome {
  const fresh = { ...composer, notice: undefined, armed: undefined };
  const { composer: next, isDone } =
    composer.search === undefined
      ? { composer: fresh, isDone: false }
      : searchKey(fresh, composer.search, key);
  if (isDone) return only(next);
  const armed = composer.search === undefined ? composer.armed : undefined;
  const outcome = pressed(next, key, context, armed);
  return { ...outcome, composer: onCharacter(outcome.composer) };
}

export function offered(composer: Composer, id: number, items: readonly string[]): Composer {
  return { ...composer, completion: withOffered(composer.completion, id, items) };
}

/** Replaces the text by the editor's result, as one undo step. */
export function edited(composer: Composer, text: string): Composer {
  const { buffer } = composer;
  const [before, read] = [whole(buffer), plainText(text)];
  // An editor ends what it writes with a line end.
  if (read === before || read === `${before}\n`) return composer;
  const plain = read.replace(/\n$/, '');
  if (plain.length > bufferLimits.characters) return { ...composer, notice: tooMuch };
  return {
    ...composer,
    completion: undefined,
    buffer: change(buffer, 0, buffer.text.length, plain, 'edited'),
  };
}

/** Returns a refused message to the composer, or keeps it in history if another text is being written. */
export function giveBack(composer: Composer, text: string, why: string): Composer {
  const notice = plainText(why).replaceAll('\n', ' ');
  if (composer.buffer.text !== '') return { ...composer, notice: `${notice} (not sent; Up brings it back)` };
  return { ...composer, notice, buffer: load(composer.buffer, asWritten(composer.history, text)) };
}

function pressed(before: Composer, key: Key, context: Context, armed: Composer['armed']): Outcome {
  if (key.type === 'text' && key.text === '?' && before.buffer.text === '')
    return asks(before, { type: 'help' });
  const vim = context.own?.isVim === true ? vimKey(before, key) : undefined;
  if (vim !== undefined && vim.chord === undefined) return only(vim.composer);
  const composer = vim?.composer ?? before;
  if (vim === undefined && key.type !== 'key') {
    const isPaste = key.type === 'paste' || isLong(key.text);
    const buffer = isPaste ? paste(composer.buffer, key.text) : insert(composer.buffer, key.text);
    if (buffer === undefined) return only({ ...composer, notice: tooMuch });
    const dropped = key.type === 'paste' ? (key.dropped ?? 0) : 0;
    const octets = dropped.toLocaleString('en-US');
    const notice =
      dropped === 0 ? undefined : `the paste was too long: its last ${octets} octets are missing`;
    return written({ ...composer, notice }, buffer, context);
  }
  const typed = chordOf(key) ?? '';
  const chord = vim?.chord ?? context.own?.map.get(typed) ?? typed;
  if (armed === 'ctrl-x' && chord === 'ctrl+e')
    return editOutside(composer, context, armed) ?? only(composer);
  const { completion } = composer;
  const chosen = completion === undefined ? undefined : completionKey(composer, completion, chord, context);
  if (chosen !== undefined) return chosen;
  const done = commandKeys.get(chord)?.(composer, context, armed);
  if (done !== undefined) return settled(done, composer, context);
  const buffer = editKeys.get(chord)?.(composer.buffer) ?? composer.buffer;
  return written(composer, buffer, context);
}

function written(composer: Composer, buffer: Buffer, context: Context): Outcome {
  if (buffer === composer.buffer) return only(composer);
  return withCompletion({ ...composer, buffer }, context, buffer.text !== composer.buffer.text);
}

function settled(outcome: Outcome, before: Composer, context: Context): Outcome {
  const { composer, effects } = outcome;
  if (composer.completion === undefined || composer.buffer === before.buffer) return outcome;
  const next = withCompletion(composer, context, false);
  return { composer: next.composer, effects: [...effects, ...next.effects] };
}

type Act = (composer: Composer, context: Context, armed: Composer['armed']) => Outcome | undefined;

const effect =
  (type: PlainEffect): Act =>
  (composer) =>
    asks(composer, { type });

/** Enter sends; behind a backslash it begins a line instead. */
const enter: Act = (composer, context) => {
  const { text, cursor } = composer.buffer;
  if (cursor === 0 || text.charAt(cursor - 1) !== '\\') return send(composer, context);
  return only({ ...composer, buffer: change(composer.buffer, cursor - 1, cursor, '\n', 'edited') });
};

/** Ctrl+C: clears the text; without one it interrupts the turn, and a second one quits. */
const clear: Act = (composer, { busy }, armed) => {
  if (composer.buffer.text !== '')
    return only({ ...cleared(composer), notice: 'cleared; Up brings it back' });
  if (armed === 'quit') return asks(composer, { type: 'quit' });
  const next = { ...composer, armed: 'quit', notice: 'Ctrl+C again quits' } as const;
  return busy ? asks(takeAllBack(next), { type: 'interrupt' }) : only(next);
};

const leave: Act = (composer, { busy }, armed) => {
  if (busy) return asks(takeAllBack(composer), { type: 'interrupt' });
  if (composer.buffer.text !== '') return only(composer);
  if (armed === 'go-back') return asks(composer, { type: 'go-back' });
  return only({ ...composer, armed: 'go-back', notice: 'Esc again goes back' });
};

const editOutside: Act = (composer) => asks(composer, { type: 'edit-outside', text: whole(composer.buffer) });

const tab: Act = (composer, { busy, answered }) => {
  const isWords = composer.buffer.text.trim() !== '';
  if (!busy && !isWords && answered === true) return asks(composer, { type: 'submit', text: '/draft' });
  return busy && isWords ? enqueue(composer) : only(composer);
};

const backspace: Act = (composer) => {
  const back = composer.buffer.text === '' ? takeBack(composer) : undefined;
  return back === undefined ? undefined : only(back);
};

const up: Act = (composer, { columns }) => {
  const back = composer.buffer.text === '' ? takeBack(composer) : undefined;
  if (back !== undefined) return only(back);
  return only(
    (leafs(composer) ? undefined : byRow(composer, columns, -1)) ??
      leafed(composer, -1) ??
      toEdge(composer, 0),
  );
};

const down: Act = (composer, { columns }) => {
  const end = composer.buffer.text.length;
  return only(
    (leafs(composer) ? undefined : byRow(composer, columns, 1)) ??
      leafed(composer, 1) ??
      toEdge(composer, end),
  );
};

const page =
  (by: -1 | 1): Act =>
  (composer, { columns, rows }) =>
    only(byRow(composer, columns, by * Math.max(1, Math.floor(rows / 2))) ?? composer);

const commandKeys: ReadonlyMap<string, Act> = new Map(
  Object.entries<Act>({
    enter,
    tab,
    escape: leave,
    backspace,
    'ctrl+h': backspace,
    up,
    'ctrl+p': up,
    down,
    'ctrl+n': down,
    'page-up': page(-1),
    'page-down': page(1),
    'ctrl+c': clear,
    'ctrl+d': (composer) => (composer.buffer.text === '' ? asks(composer, { type: 'quit' }) : undefined),
    'ctrl+g': editOutside,
    'ctrl+x': (composer) => only({ ...composer, armed: 'ctrl-x' }),
    'ctrl+r': (composer) => only(beginSearch(composer)),
    'ctrl+l': effect('redraw'),
    'ctrl+t': effect('take-back'),
    'ctrl+z': effect('suspend'),
    'shift+tab': effect('cycle-context'),
  }),
);

function leafs({ history, buffer }: Composer): boolean {
  const isAtEnd = buffer.cursor === 0 || buffer.cursor === buffer.text.length;
  return history.at < history.entries.length && isAtEnd && !isChanged(history, buffer);
}

function leafed(composer: Composer, by: number): Composer | undefined {
  const found = leaf(composer.history, composer.buffer, by);
  if (found === undefined) return undefined;
  return {
    ...composer,
    history: found.history,
    buffer: load(composer.buffer, found.shown),
    closed: undefined,
  };
}

function byRow(composer: Composer, columns: number, by: number): Composer | undefined {
  const buffer = moveRow(composer.buffer, textWidth(columns).text, by);
  return buffer === undefined ? undefined : { ...composer, buffer };
}

function toEdge(composer: Composer, at: number): Composer {
  return { ...composer, buffer: moved(composer.buffer, at) };
}

function withCompletion(composer: Composer, { commands }: Context, mayOpen: boolean): Outcome {
  const { buffer, completion, asked, closed } = composer;
  const open = completionFor(buffer.text, buffer.cursor, commands, completion, asked + 1);
  if (open === undefined) return only({ ...composer, completion: undefined, closed: undefined });
  if (open.from === closed || (completion === undefined && !mayOpen))
    return only({ ...composer, completion: undefined });
  const next = { ...composer, completion: open, closed: undefined };
  if (open.kind !== 'path' || open.id <= asked) return only(next);
  return asks({ ...next, asked: open.id }, { type: 'complete-path', prefix: open.sought, id: open.id });
}

function completionKey(
  composer: Composer,
  open: Completion,
  chord: string,
  context: Context,
): Outcome | undefined {
  const choice = open.choices[open.chosen];
  if (choice === undefined) return undefined;
  switch (chord) {
    case 'up':
    case 'ctrl+p':
      return only({ ...composer, completion: chooseBy(open, -1) });
    case 'down':
    case 'ctrl+n':
      return only({ ...composer, completion: chooseBy(open, 1) });
    case 'escape':
      return only({ ...composer, completion: undefined, closed: open.from });
    case 'tab':
      return accepted(composer, open, choice, context);
    case 'enter': {
      if (isWritten(open, choice)) return undefined;
      const outcome = accepted(composer, open, choice, context);
      const { text, cursor } = outcome.composer.buffer;
      const isComplete = open.kind === 'command' && choice.isWhole && cursor === text.length;
      return isComplete ? send(outcome.composer, context) : outcome;
    }
    default:
      return undefined;
  }
}

function accepted(composer: Composer, open: Completion, choice: Choice, context: Context): Outcome {
  const { buffer } = composer;
  const isSpaced = choice.insert.endsWith(' ') && buffer.text.charAt(buffer.cursor) === ' ';
  const inserted = isSpaced ? choice.insert.slice(0, -1) : choice.insert;
  const next = { ...composer, buffer: change(buffer, open.from, buffer.cursor, inserted, 'edited') };
  return choice.isWhole ? only({ ...next, completion: undefined }) : withCompletion(next, context, true);
}

function isWritten(open: Completion, choice: Choice): boolean {
  return open.kind === 'path' ? open.sought === choice.name : `/${open.sought}` === choice.insert.trimEnd();
}

function moveRow(buffer: Buffer, width: number, by: number): Buffer | undefined {
  const { rows, at } = rowsAround(buffer, buffer.cursor, width, Math.max(0, -by), Math.max(0, by));
  const here = rows[at];
  const target = by < 0 ? rows[0] : rows.at(-1);
  if (here === undefined || target === undefined || target === here) return undefined;
  const column = buffer.column ?? columnOf(here, buffer.cursor);
  return moved(buffer, placeAt(target, column), column);
}
