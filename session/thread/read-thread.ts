import { isAuthentic, type JournalWitness } from '../../store/journal-witness.ts';
import type { Happened } from '../state/fact.ts';
import { restoredState } from '../state/restored-state.ts';
import type { SessionState } from '../state/state.ts';
import { toFacts, witnessName } from './open-thread.ts';
import { readThreadJournal } from './read-thread-journal.ts';
import { threadNotFound } from './thread-not-found.ts';
import { type ThreadWords, wordsOf } from './words-of.ts';

/** A thread as whoever only looks gets it. */
export interface ThreadReading extends ThreadWords {
  /**
   * Absent where nobody here vouches for it: its words can be shown, and nothing in it is believed, no plan, no answer,
   * nobody's name.
   */
  readonly proven?: { readonly facts: readonly Happened[]; readonly state: SessionState };
}

/**
 * Reads a thread, also one that another process writes; takes no lock and changes nothing. THREAD_NOT_FOUND,
 * JOURNAL_CORRUPT, OBJECT_CORRUPT where a link stands in its place.
 */
export async function readThread(
  directory: string,
  threadId: string,
  witness: Pick<JournalWitness, 'look'>,
): Promise<ThreadReading> {
  // Looked at first: a writer may be ahead of what is known of it, and never behind.
  const known = await witness.look(witnessName(threadId));
  const journal = await readThreadJournal(directory);
  if (journal === undefined || journal.records.length === 0) throw threadNotFound(threadId);
  if (!isAuthentic(journal, known)) return wordsOf(journal.records);
  const facts = toFacts(journal.records);
  const state = restoredState(facts);
  return { transcript: state.transcript, earlier: state.earlier, proven: { facts, state } };
}
