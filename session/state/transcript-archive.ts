/** Transcript entries that left the window of the session, kept in memory for clients that page back. */
import type { Happened } from './fact.ts';
import { reduce } from './reduce.ts';
import type { SessionState, TranscriptEntry } from './state.ts';

/** Selects the last `limit` of the first `before` entries. */
export interface TranscriptAsk {
  readonly before: number;
  readonly limit: number;
}

/** Entries of a transcript, oldest first, and how many came before them. */
export interface TranscriptPage {
  readonly entries: readonly TranscriptEntry[];
  readonly earlier: number;
}

export interface TranscriptArchive {
  /** Adds an entry that left the window. */
  add(entry: TranscriptEntry): void;
  /** Adds what left the window while `facts` turned `before` into `after`. */
  follow(before: SessionState, after: SessionState, facts: readonly Happened[]): void;
  page(ask: TranscriptAsk): Promise<TranscriptPage>;
}

/** Characters of one page; a page always has at least one entry. */
const maxCharacters = 4 * 1024 * 1024;

export function openTranscriptArchive(): TranscriptArchive {
  const older: TranscriptEntry[] = [];
  return {
    add: (entry) => void older.push(entry),
    follow(before, after, facts) {
      if (after.earlier === before.earlier) return;
      let state = before;
      for (const fact of facts) {
        const next = reduce(state, fact);
        older.push(...evicted(state, next, fact));
        state = next;
      }
    },
    async page({ before, limit }) {
      const to = Math.min(before, older.length);
      const entries = newestThatFit(older.slice(Math.max(0, to - limit), to));
      return { entries, earlier: to - entries.length };
    },
  };
}

/** The entry that one fact pushed out of the window, if it did. Pure. */
export function evicted(
  before: SessionState,
  after: SessionState,
  fact: Happened,
): readonly TranscriptEntry[] {
  if (after.earlier === before.earlier) return [];
  const [oldest] = before.transcript;
  // A reply whose place is before the whole window never enters it.
  const [gone] =
    oldest === after.transcript[0] ? reduce({ ...before, transcript: [] }, fact).transcript : [oldest];
  return gone === undefined ? [] : [{ ...gone, streaming: false }];
}

function newestThatFit(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  let left = maxCharacters;
  const first = entries.findLastIndex(({ content = '', title = '' }) => {
    left -= content.length + title.length;
    return left < 0;
  });
  return entries.slice(Math.min(first + 1, entries.length - 1));
}
