import type { Entry, Seen } from '../seen.ts';

/** Entries before those that the session shows, as far as the page has them: with these one list without a gap. */
export type Before = readonly Entry[];

const most = 20_000;

/**
 * What the page still has of entries that left the session's window. A window that does not touch the one before (the
 * page was away for long, or another session is served) leaves nothing of it: a gap would pass for a silence.
 */
export function keepBefore(before: Before, old: Seen | undefined, now: Seen): Before {
  if (old === undefined || old.transcript === now.transcript) return before;
  const [first] = now.transcript;
  if (old.threadId !== now.threadId || first === undefined) return [];
  if (old.transcript[0]?.id === first.id) return before;
  const all = [...before, ...old.transcript];
  const place = all.findIndex(({ id }) => id === first.id);
  return place < 0 ? [] : all.slice(Math.max(0, place - most), place);
}

/** Entries in the size in which they are drawn: a group that has not changed is not looked at again. */
export function groupsOf(entries: readonly Entry[], size: number): readonly (readonly Entry[])[] {
  const groups: Entry[][] = [];
  for (let at = 0; at < entries.length; at += size) groups.push(entries.slice(at, at + size));
  return groups;
}
