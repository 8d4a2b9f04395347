import { change, load, moved } from './buffer.ts';
import { asks, type Composer, type Context, type Outcome, only, type PlainEffect } from './composer.ts';
import { whole } from './folds.ts';
import { isChanged, leaf } from './history.ts';
import { moveRow } from './move-row.ts';
import { beginSearch } from './search-keys.ts';
import { cleared, enqueue, send, takeAllBack, takeBack } from './send.ts';
import { textWidth } from './text-width.ts';

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

export const editOutside: Act = (composer) =>
  asks(composer, { type: 'edit-outside', text: whole(composer.buffer) });

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

export const commandKeys: ReadonlyMap<string, Act> = new Map(
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
