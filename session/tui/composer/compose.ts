import type { Key } from '../term/key.ts';
import { borderBefore } from './borders.ts';
import { type Buffer, bufferLimits, change, load, moved } from './buffer.ts';
import { chordOf } from './chord.ts';
import { type Choice, type Completion, chooseBy, completionFor, withOffered } from './completion.ts';
import {
  asks,
  type Composer,
  type Context,
  emptyComposer,
  type Outcome,
  only,
  type PlainEffect,
  type Search,
} from './composer.ts';
import { insert, paste } from './edit.ts';
import { editKeys } from './edit-keys.ts';
import { isLong, whole } from './folds.ts';
import { asWritten, emptyHistory, findBefore, isChanged, leaf, showFound, withEarlier } from './history.ts';
import { plainText } from './plain-text.ts';
import { columnOf, placeAt, rowsAround } from './rows.ts';
import { cleared, enqueue, send, takeAllBack, takeBack } from './send.ts';
import { textWidth } from './text-width.ts';

const mostWords = 256;

function beginSearch(composer: Composer): Composer {
  const search = { words: '', found: undefined, hasFailed: false };
  return { ...composer, search, completion: undefined };
}

/**
 * A key while history is searched. Where `isDone` is false the key is still to be done: what was found is taken, and
 * the key is one of the text; a paste that is more than words to search for goes into the text as it was.
 */
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
      return done(taken(composer, search));
    case 'ctrl+r':
    case 'up':
      return done({ ...composer, search: older(composer, search) });
    case 'backspace':
    case 'ctrl+h': {
      const words = search.words.slice(0, borderBefore(search.words, search.words.length));
      return done({ ...composer, search: sought(composer, words, composer.history.entries.length) });
    }
    default:
      return { composer: taken(composer, search), isDone: false };
  }
}

function sought(composer: Composer, words: string, from: number): Search {
  if (words === '') return { words, found: undefined, hasFailed: false };
  const found = findBefore(composer.history, words, from);
  return { words, found, hasFailed: found === undefined };
}

/** The next older one with the same words; the one that is found stays where there is none. */
function older(composer: Composer, search: Search): Search {
  if (search.words === '' || search.found === undefined) return search;
  const shown = composer.history.entries[search.found]?.text;
  let next = findBefore(composer.history, search.words, search.found - 1);
  while (next !== undefined && composer.history.entries[next]?.text === shown)
    next = findBefore(composer.history, search.words, next - 1);
  return next === undefined ? { ...search, hasFailed: true } : { ...search, found: next, hasFailed: false };
}

/** What was found is the text now; what was written before is a step down in the history. */
function taken(composer: Composer, search: Search): Composer {
  if (search.found === undefined) return { ...composer, search: undefined };
  const { history, shown } = showFound(composer.history, composer.buffer, search.found);
  return { ...composer, search: undefined, closed: undefined, history, buffer: load(composer.buffer, shown) };
}

const tooMuch = `too much: a composer holds ${bufferLimits.characters.toLocaleString('en-US')} characters; nothing changed`;

/** A composer with nothing written, whose history is the messages of a transcript, oldest first. */
export function openComposer(earlier: readonly string[]): Composer {
  return { ...emptyComposer, history: withEarlier(emptyHistory, earlier) };
}

/** What a key or a paste does. Pure: the same composer, key and context give the same. */
export function press(composer: Composer, key: Key, context: Context): Outcome {
  const fresh = { ...composer, notice: undefined, armed: undefined };
  if (composer.search === undefined) return pressed(fresh, key, context, composer.armed);
  const { composer: next, isDone } = searchKey(fresh, composer.search, key);
  return isDone ? only(next) : pressed(next, key, context, undefined);
}

/** The answer to `complete-path`; one that comes too late changes nothing. */
export function offered(composer: Composer, id: number, items: readonly string[]): Composer {
  return { ...composer, completion: withOffered(composer.completion, id, items) };
}

/** What an editor of the person's own made of the text; an undo brings back what was there before. */
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

/** A message that the session refused, and why: it is written again, or stays in the history behind what is written. */
export function giveBack(composer: Composer, text: string, why: string): Composer {
  const notice = plainText(why).replaceAll('\n', ' ');
  if (composer.buffer.text !== '') return { ...composer, notice: `${notice} (not sent; Up brings it back)` };
  return { ...composer, notice, buffer: load(composer.buffer, asWritten(composer.history, text)) };
}

function pressed(composer: Composer, key: Key, context: Context, armed: Composer['armed']): Outcome {
  if (key.type === 'text' && key.text === '?' && composer.buffer.text === '')
    return asks(composer, { type: 'help' });
  if (key.type !== 'key') {
    const isPaste = key.type === 'paste' || isLong(key.text);
    const buffer = isPaste ? paste(composer.buffer, key.text) : insert(composer.buffer, key.text);
    if (buffer === undefined) return only({ ...composer, notice: tooMuch });
    const dropped = key.type === 'paste' ? (key.dropped ?? 0) : 0;
    const octets = dropped.toLocaleString('en-US');
    const notice =
      dropped === 0 ? undefined : `the paste was too long: its last ${octets} octets are missing`;
    return written({ ...composer, notice }, buffer, context);
  }
  const chord = chordOf(key) ?? '';
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

/** The list follows the text: it opens where text was changed. */
function written(composer: Composer, buffer: Buffer, context: Context): Outcome {
  if (buffer === composer.buffer) return only(composer);
  return withCompletion({ ...composer, buffer }, context, buffer.text !== composer.buffer.text);
}

/** A list does not outlast the text that it was for. */
function settled(outcome: Outcome, before: Composer, context: Context): Outcome {
  const { composer, effects } = outcome;
  if (composer.completion === undefined || composer.buffer === before.buffer) return outcome;
  const next = withCompletion(composer, context, false);
  return { composer: next.composer, effects: [...effects, ...next.effects] };
}

/** What a key does; `undefined` where it is a key of the text instead. */
type Act = (composer: Composer, context: Context, armed: Composer['armed']) => Outcome | undefined;

const effect =
  (type: PlainEffect): Act =>
  (composer) =>
    asks(composer, { type });

/** Enter sends; behind a backslash, which goes, it begins a line. */
const enter: Act = (composer, context) => {
  const { text, cursor } = composer.buffer;
  if (cursor === 0 || text.charAt(cursor - 1) !== '\\') return send(composer, context);
  return only({ ...composer, buffer: change(composer.buffer, cursor - 1, cursor, '\n', 'edited') });
};

/** Ctrl+C: a text goes into the history; without one the turn is interrupted, and a second one ends. */
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

const tab: Act = (composer, { busy }) => {
  const isWords = composer.buffer.text.trim() !== '';
  return busy && isWords ? enqueue(composer) : only(composer);
};

const backspace: Act = (composer) => {
  const back = composer.buffer.text === '' ? takeBack(composer) : undefined;
  return back === undefined ? undefined : only(back);
};

/** A row up; from the first one what was sent before. An entry that was not touched is left at once. */
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

/** Whether an entry of the history is shown as it was, the cursor at one of its ends. */
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

/** The list that belongs to what is written; it opens where `mayOpen`: while typing, not where a cursor comes by. */
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

/** A key while a list is open; `undefined` where it is none of the list's. */
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

/** What is chosen in the place of the token; a directory or a command that goes on keeps the list open. */
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

/** The cursor so many rows further down, or up where it is negative, in its column; `undefined` at the edge. */
function moveRow(buffer: Buffer, width: number, by: number): Buffer | undefined {
  const { rows, at } = rowsAround(buffer, buffer.cursor, width, Math.max(0, -by), Math.max(0, by));
  const here = rows[at];
  const target = by < 0 ? rows[0] : rows.at(-1);
  if (here === undefined || target === undefined || target === here) return undefined;
  const column = buffer.column ?? columnOf(here, buffer.cursor);
  return moved(buffer, placeAt(target, column), column);
}
