import { load } from './buffer.ts';
import type { Composer } from './composer.ts';
import { noFolds, whole } from './folds.ts';
import { isChanged, withEarlier } from './history.ts';
import { plainText } from './plain-text.ts';

/** What somebody has typed and nobody was told: it outlives the screen. */
export interface Draft {
  /** What waits to be sent, and behind it what is being written. */
  readonly unsent: readonly string[];
  /** What was cleared or taken away, and what was said to the screen alone; oldest first. */
  readonly typed: readonly string[];
}

/** Texts of a history that are kept beside what a transcript holds. */
const mostTyped = 50;

/** What is with nobody: what waits, and behind it what is being written. An older text that is looked at is neither. */
export function unsentOf({ queue, buffer, history }: Composer): readonly string[] {
  const left = history.drafts.get(history.entries.length);
  const texts = [
    ...(left === undefined || history.at === history.entries.length ? [] : [whole(left)]),
    ...(isChanged(history, buffer) ? [whole(buffer)] : []),
  ];
  return [...queue, ...texts.filter((text) => text.trim() !== '')];
}

/** What is kept of a composer; `said` stands in the transcript already. */
export function draftOf(composer: Composer, said: readonly string[]): Draft {
  const known = new Set(said);
  const { entries } = composer.history;
  const killed = whole({ text: composer.buffer.killed, folds: composer.buffer.folds });
  const typed = [...entries.map(({ text }) => text), killed].filter(
    (text) => text.trim() !== '' && !known.has(text),
  );
  return { unsent: unsentOf(composer), typed: typed.slice(-mostTyped) };
}

/**
 * The composer of a session that is there now: what was said in it, and typed before, comes before all else in the
 * history; what was not sent is written again, before what is being written. Called once.
 */
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
