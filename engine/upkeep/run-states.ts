import { isWritError } from '../../core/base/errors.ts';
import { readJournal } from '../../store/parse-journal.ts';
import { journalPath, runDirectory } from '../../store/run-directory.ts';
import { isRunHeld } from '../../store/run-lock.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { viewJournal } from '../record/journal-view.ts';

/** What this machine still has to do for a run: `over` also where it never had anything to do. */
type LocalState = 'over' | 'held' | 'unfinished' | 'damaged';

/** `unfinished`: waiting, or interrupted and resumable. `damaged`: the journal is unreadable. */
export async function localStateOf(
  repository: Pick<Repository, 'commonDir'>,
  runId: string,
): Promise<LocalState> {
  if (await isRunHeld(runDirectory(repository, runId))) return 'held';
  try {
    const { records } = await readJournal(journalPath(repository, runId));
    return records.length === 0 || viewJournal(records).isFinished ? 'over' : 'unfinished';
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT')) return 'damaged';
    throw fault;
  }
}
