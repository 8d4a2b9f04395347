/* The history of the composer: earlier messages, and drafts of changed ones. */
import { type Folded, noFolds, plainText, whole } from './buffer.ts';

/** A message of before, as it was sent, and as it was written where pastes in it were folded. */
interface Entry {
  readonly text: string;
  readonly written: Folded;
  readonly sought: string;
}

export interface History {
  readonly entries: readonly Entry[];
  /** Which entry is shown; `entries.length` while a new text is written. */
  readonly at: number;
  readonly drafts: ReadonlyMap<number, Folded>;
}

/** Limits: entries, characters, and the prefix of each entry that a search reads. */
export const historyLimits = { entries: 10_000, characters: 32 * 1024 * 1024, sought: 4096 } as const;

export const emptyHistory: History = { entries: [], at: 0, drafts: new Map() };

/** Adds the messages of a transcript as the oldest entries. Called once. */
export function withEarlier(history: History, texts: readonly string[]): History {
  const earlier = texts
    .slice(-historyLimits.entries)
    .map((text) => plainText(text))
    .filter((text) => text.trim() !== '')
    .map((text) => entryOf({ text, folds: noFolds }));
  return shifted(history, [...earlier, ...history.entries], earlier.length);
}

/** Adds the text, and other drafts before it, as the newest entries. */
export function remember(history: History, written: Folded): History {
  const others = [...history.drafts].filter(([at]) => at !== history.at).sort(([a], [b]) => a - b);
  let { entries } = history;
  for (const one of [...others.map(([, draft]) => draft), written]) {
    const entry = entryOf(one);
    if (entry.text.trim() === '' || entry.text === entries.at(-1)?.text) continue;
    entries = [...entries, entry];
  }
  const kept = withinLimits(entries);
  return { entries: kept, at: kept.length, drafts: new Map() };
}

/** Adds texts as the newest entries and keeps the current position. */
export function withTyped(history: History, texts: readonly Folded[]): History {
  const added = texts.map(entryOf).filter(({ text }) => text.trim() !== '');
  if (added.length === 0) return history;
  const before = history.entries.length;
  const entries = [...history.entries, ...added];
  const moved = (at: number): number => (at === before ? entries.length : at);
  const drafts = new Map([...history.drafts].map(([at, draft]) => [moved(at), draft]));
  return { entries, at: moved(history.at), drafts };
}

export function leaf(
  history: History,
  now: Folded,
  by: number,
): { readonly history: History; readonly shown: Folded } | undefined {
  const at = history.at + by;
  if (at < 0 || at > history.entries.length) return undefined;
  return show(history, now, at);
}

function show(
  history: History,
  now: Folded,
  at: number,
): { readonly history: History; readonly shown: Folded } {
  const drafts = new Map(history.drafts);
  if (isChanged(history, now)) drafts.set(history.at, now);
  else drafts.delete(history.at);
  const shown = drafts.get(at) ?? history.entries[at]?.written ?? { text: '', folds: noFolds };
  return { history: { ...history, at, drafts }, shown };
}

export function asWritten({ entries }: History, text: string): Folded {
  return entries.findLast((entry) => entry.text === text)?.written ?? { text, folds: noFolds };
}

export function showFound(
  history: History,
  now: Folded,
  found: number,
): { readonly history: History; readonly shown: Folded } {
  const entry = history.entries[found];
  const isOwn = found === history.at || history.drafts.has(found);
  if (entry === undefined || !isOwn) return show(history, now, found);
  const others = remember(history, now);
  const at = others.entries.lastIndexOf(entry);
  return { history: { ...others, at: at < 0 ? others.at : at }, shown: entry.written };
}

export function isChanged({ entries, at }: History, now: Folded): boolean {
  return now.text !== (entries[at]?.written.text ?? '');
}

/** The newest entry at or before `from` that holds the words, whatever their case; `undefined` where none does. */
export function findBefore({ entries }: History, words: string, from: number): number | undefined {
  const sought = words.toLowerCase();
  for (let at = Math.min(from, entries.length - 1); at >= 0; at -= 1)
    if (entries[at]?.sought.includes(sought) === true) return at;
  return undefined;
}

function entryOf(written: Folded): Entry {
  const text = whole(written);
  return { text, written, sought: text.slice(0, historyLimits.sought).toLowerCase() };
}

function shifted(history: History, entries: readonly Entry[], by: number): History {
  const kept = withinLimits(entries);
  const more = by - (entries.length - kept.length);
  const drafts = new Map([...history.drafts].map(([at, draft]) => [at + more, draft]));
  return { entries: kept, at: Math.max(0, history.at + more), drafts };
}

function withinLimits(entries: readonly Entry[]): readonly Entry[] {
  let [first, characters] = [entries.length, 0];
  while (first > 0 && entries.length - first < historyLimits.entries) {
    characters += entries[first - 1]?.text.length ?? 0;
    if (characters > historyLimits.characters && first < entries.length) break;
    first -= 1;
  }
  return first === 0 ? entries : entries.slice(first);
}
