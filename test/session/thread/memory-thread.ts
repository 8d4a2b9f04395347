import type { Happened } from '../../../session/state/fact.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import { openTranscriptArchive, type TranscriptArchive } from '../../../session/state/restored-state.ts';
import type { SessionState } from '../../../session/state/state.ts';

/** A thread in memory that can be paged through. */
export interface MemoryThread extends Pick<TranscriptArchive, 'page'> {
  append(facts: readonly Happened[]): Promise<void>;
}

export function memoryThread(...begun: readonly Happened[]): MemoryThread {
  const archive = openTranscriptArchive();
  let state: SessionState | undefined;
  const take = (facts: readonly Happened[]): void => {
    for (const fact of facts) {
      const before: SessionState | undefined = state;
      state =
        before === undefined ? openedState(fact as Happened & { type: 'opened' }) : reduce(before, fact);
      if (before !== undefined) archive.follow(before, state, [fact]);
    }
  };
  take(begun);
  return { page: archive.page, append: async (facts) => take(facts) };
}
