import { join } from 'node:path';
import { Journal } from '../../store/journal.ts';
import type { WitnessedJournal } from '../../store/journal-witness.ts';
import { isJournalBegun } from '../../store/parse-journal.ts';
import { processWitness } from '../../store/process-witness.ts';
import { journalFile } from '../../store/run-directory.ts';
import type { RunSettings } from '../state/run-request.ts';

/** The journal that this user wrote here; `undefined` where there is none, or one that nobody here vouches for. */
export async function openOwnJournal(
  directory: string,
  runId: string,
  settings: RunSettings,
): Promise<Journal | undefined> {
  // The journal of a thousand Tasks takes its time to read: not twice.
  if (!(await isJournalBegun(join(directory, journalFile)))) return undefined;
  const journal = await openJournal(directory, runId, settings);
  if (journal.isAuthentic) return journal;
  await journal.close();
  return undefined;
}

/** With whoever vouches for it; a journal that could not be opened leaves no witness open. */
export async function openJournal(directory: string, runId: string, settings: RunSettings): Promise<Journal> {
  const witness = await openWitness(settings, runId);
  try {
    return await Journal.open(join(directory, journalFile), { clock: settings.clock, witness });
  } catch (fault) {
    await witness[Symbol.asyncDispose]();
    throw fault;
  }
}

/** Whoever vouches for the journals of this user; else this process. */
export function openWitness(
  { witness = processWitness }: RunSettings,
  runId: string,
): Promise<WitnessedJournal> {
  return witness.open(runId);
}
