import type { Happened } from '../../../session/state/fact.ts';
import type { TranscriptEntry } from '../../../session/state/state.ts';
import { openTranscriptPlaces, type ThreadTranscript } from '../../../session/thread/open-transcript.ts';

/** A thread in memory that can be paged through. */
export interface MemoryThread extends ThreadTranscript {
  append(facts: readonly Happened[]): Promise<void>;
}

export function memoryThread(...begun: readonly Happened[]): MemoryThread {
  const facts: Happened[] = [];
  const places = openTranscriptPlaces();
  const take = (more: readonly Happened[]): void => {
    for (const fact of more) places.add(fact, { at: facts.push(fact) - 1, nth: 0 });
  };
  take(begun);
  const entryAt = (at: number): TranscriptEntry => {
    const { made, changed } = places.of(at);
    const entry = places.entryOf([facts[made.at], ...(changed === undefined ? [] : [facts[changed.at]])]);
    if (entry === undefined) throw new Error(`no entry ${at}`);
    return entry;
  };
  return {
    append: async (more) => take(more),
    async page({ before, limit }) {
      const to = Math.min(before, places.count());
      const earlier = Math.max(0, to - limit);
      return { entries: Array.from({ length: to - earlier }, (_, at) => entryAt(earlier + at)), earlier };
    },
  };
}
