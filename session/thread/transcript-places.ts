import type { Happened } from '../state/fact.ts';
import { openedState, reduce } from '../state/reduce.ts';
import type { SessionState, TranscriptEntry } from '../state/state.ts';

/** Where a fact stands in a journal: the octet at which its line begins, and which of the line's facts it is. */
export interface FactPlace {
  readonly at: number;
  readonly nth: number;
}

/** What one entry of a transcript is made of: the fact that made it, and the one that changed it last. */
export interface EntryPlaces {
  readonly made: FactPlace;
  readonly changed?: FactPlace;
}

/**
 * Where the entries of a transcript stand in its journal, in the order in which the session shows them: two numbers for
 * each, however long the thread.
 */
export interface TranscriptPlaces {
  /** How many entries there are. */
  readonly count: () => number;
  /** The next fact of the journal; the first one opens the session. */
  add(fact: Happened, place: FactPlace): void;
  of(entry: number): EntryPlaces;
  /** The entry that these facts come to, by the way on which the session itself came to it; none of what is no fact. */
  entryOf(facts: readonly (Happened | undefined)[]): TranscriptEntry | undefined;
}

/** More facts than a line has; 2^30 octets of a journal times that is a whole number still. */
const mostFacts = 2 ** 20;

export function openTranscriptPlaces(): TranscriptPlaces {
  let opened: SessionState | undefined;
  let state: SessionState | undefined;
  let count = 0;
  let made = new Float64Array(1024);
  let changed = new Float64Array(1024).fill(-1);
  const insert = (at: number, place: number): void => {
    if (count === made.length) [made, changed] = [grown(made), grown(changed)];
    made.copyWithin(at + 1, at, count);
    changed.copyWithin(at + 1, at, count);
    made[at] = place;
    changed[at] = -1;
    count += 1;
  };
  return {
    count: () => count,
    add(fact, { at, nth }) {
      // It is in no transcript, and would be held at length.
      if (fact.type === 'exchanged') return;
      if (state === undefined) {
        if (fact.type === 'opened') [opened, state] = [openedState(fact), openedState(fact)];
        return;
      }
      const before = state;
      state = reduce(before, lightened(fact));
      const touched = touchedBy(before, state);
      if (touched === undefined) return;
      const place = at * mostFacts + nth;
      if (state.earlier + state.transcript.length > count) insert(touched, place);
      else changed[touched] = place;
    },
    of(entry) {
      const [first = 0, last = -1] = [made[entry], changed[entry]];
      return { made: toPlace(first), ...(last < 0 ? {} : { changed: toPlace(last) }) };
    },
    entryOf(facts) {
      let shown = opened;
      for (const fact of facts) {
        if (shown === undefined || fact === undefined) return undefined;
        shown = reduce(shown, fact);
      }
      return shown?.transcript[0];
    },
  };
}

/** What makes an entry, without what would be held at length for nothing: ids of commands, what was changed. */
function lightened(fact: Happened): Happened {
  if (fact.type === 'patched') return { ...fact, patchset: { ...fact.patchset, changes: [] } };
  if (fact.type !== 'said') return fact;
  const { commandId: _, ...said } = fact;
  return said;
}

function grown(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(column.length * 2);
  wider.set(column);
  return wider;
}

function toPlace(packed: number): FactPlace {
  return { at: Math.floor(packed / mostFacts), nth: packed % mostFacts };
}

/** Which entry of the whole transcript one fact made or changed; `undefined` where it did neither. */
function touchedBy(before: SessionState, after: SessionState): number | undefined {
  const [old, now] = [before.transcript, after.transcript];
  if (old === now) return undefined;
  let same = 0;
  while (same < now.length && now[now.length - 1 - same] === old[old.length - 1 - same]) same += 1;
  return same === now.length ? undefined : after.earlier + now.length - 1 - same;
}
