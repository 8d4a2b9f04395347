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
 * What the page still has of entries that left the session's window. A window that does not touch the one before (the
 * page was away for long, or another session is served) leaves nothing of it: a gap would pass for a silence.
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
