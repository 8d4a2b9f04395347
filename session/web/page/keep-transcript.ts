/* Keeps entries of the transcript that left the window of the session. */
import type { Entry, Seen } from '../seen.ts';

/** Entries before those that the session shows, as far as the page has them: with these one list without a gap. */
export interface Before {
  readonly entries: readonly Entry[];
  readonly from: number;
}

export const nothingBefore: Before = { entries: [], from: 0 };

/** Entries that the page holds beside the session's window. */
export const mostBefore = 20_000;

/**
 * Entries that left the session's window and that the page still holds. If the new window does not touch the old one,
 * they are dropped: a gap would look like silence. That happens after a long absence, or if another session is
 * served.
 */
export function keepBefore(before: Before, old: Seen | undefined, now: Seen): Before {
  if (old?.transcript === now.transcript) return before;
  const [first] = now.transcript;
  const fresh: Before = { entries: [], from: now.earlier ?? 0 };
  if (old === undefined || old.threadId !== now.threadId || first === undefined) return fresh;
  if (old.transcript[0]?.id === first.id) return before;
  const all = [...before.entries, ...old.transcript];
  const place = all.findIndex(({ id }) => id === first.id);
  if (place < 0) return fresh;
  const gone = Math.max(0, place - mostBefore);
  return { entries: all.slice(gone, place), from: before.from + gone };
}

export function withLoaded(before: Before, entries: readonly Entry[], from: number): Before {
  return { entries: [...entries, ...before.entries], from };
}

interface Group {
  readonly key: number;
  readonly entries: readonly Entry[];
}

/**
 * Entries in the size in which they are drawn, by their numbers in the thread, of which `from` is the first one's: a
 * group that has not changed is not looked at again, whichever end grows.
 */
export function groupsOf(entries: readonly Entry[], size: number, from: number): readonly Group[] {
  const groups: Group[] = [];
  for (let at = 0; at < entries.length; ) {
    const key = Math.floor((from + at) / size);
    const next = (key + 1) * size - from;
    groups.push({ key, entries: entries.slice(at, next) });
    at = next;
  }
  return groups;
}

/* What a tab remembers over a reload: typed text and the place of reading. */

/**
 * A person's unsent text. It survives a reload of its tab, but not the end of the tab. Secrets are never stored here.
 * If the store is full or disabled, the text stays in memory.
 */
export interface Drafts {
  get(key: string): string;
  set(key: string, text: string): void;
  below(prefix: string): ReadonlyMap<string, string>;
  forget(prefix: string): void;
}

const mark = 'writ ';

export function openDrafts(store: Storage): Drafts {
  const kept = new Map<string, string>();
  try {
    for (let at = 0; at < store.length; at += 1) {
      const key = store.key(at) ?? '';
      if (key.startsWith(mark)) kept.set(key.slice(mark.length), store.getItem(key) ?? '');
    }
  } catch {
    // Switched off: what is typed is kept as long as the page.
  }
  const drafts: Drafts = {
    get: (key) => kept.get(key) ?? '',
    set(key, text) {
      if (text === '') kept.delete(key);
      else kept.set(key, text);
      try {
        if (text === '') store.removeItem(mark + key);
        else store.setItem(mark + key, text);
      } catch {
        // Full, or switched off.
      }
    },
    below: (prefix) => new Map([...kept].filter(([key]) => key.startsWith(prefix))),
    forget(prefix) {
      for (const key of drafts.below(prefix).keys()) drafts.set(key, '');
    },
  };
  return drafts;
}

export interface ReadingPlace {
  readonly entry: number;
  readonly top: number;
}

const keyOf = (thread: string | undefined): string => `place ${thread}`;

/** The stored place; undefined for the end. */
export function readPlace(drafts: Drafts, thread: string | undefined): ReadingPlace | undefined {
  const [, entry, top] = /^(\d{1,9}) (-?\d{1,6})$/.exec(drafts.get(keyOf(thread))) ?? [];
  return entry === undefined ? undefined : { entry: Number(entry), top: Number(top) };
}

export function keepPlace(drafts: Drafts, thread: string | undefined, place: ReadingPlace | undefined): void {
  drafts.set(keyOf(thread), place === undefined ? '' : `${place.entry} ${Math.round(place.top)}`);
}

/* The clock and the random ids of the browser. */

export const now = (): number => Date.now();

/** An unpredictable id of this page or of one message. */
export const newId = (): string => crypto.randomUUID();
