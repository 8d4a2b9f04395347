import { isWritError } from '../../core/base/errors.ts';
import { readJournal } from '../../store/parse-journal.ts';
import type { Found } from '../../store/problem.ts';
import { requireKeptSpec } from '../../store/record/kept-spec.ts';
import { journalPath, listRunDirectories, runDirectory } from '../../store/run-directory.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { requireStartedContract, viewJournal } from '../record/journal-view.ts';
import { startedRun } from '../record/started-run.ts';

/** State of a run according to the refs. */
export type RecordedAs = 'decided' | 'waiting';

/**
 * Reads every local journal, one at a time: its hash chain must be valid, and it must reach the record made from it.
 * An incomplete last line is normal after a kill and is not damage.
 */
export async function checkJournals(
  repository: Pick<Repository, 'commonDir'>,
  recorded: ReadonlyMap<string, RecordedAs>,
): Promise<{
  readonly journals: number;
  readonly problems: readonly (Found & { readonly runId: string })[];
}> {
  const problems: (Found & { readonly runId: string })[] = [];
  let journals = 0;
  for (const runId of await listRunDirectories(repository)) {
    const where = journalPath(repository, runId);
    const report = (code: Found['code'], what: string): void => {
      problems.push({ code, where, what, runId });
    };
    try {
      journals += 1;
      const { records } = await readJournal(where);
      if (records.length === 0) {
        journals -= 1;
        continue;
      }
      const started = startedRun(records);
      const { isFinished, isWaiting } = viewJournal(records);
      if (started && !isFinished)
        requireStartedContract(await requireKeptSpec(runDirectory(repository, runId), runId), started);
      const isRecorded = records.some(({ type, data }) => type === 'step-begun' && isRecordStep(data));
      if (isFinished && !recorded.has(runId))
        report('reference-missing', 'the run was recorded, and no ref holds its record any more');
      else if (recorded.get(runId) === 'decided' && !isRecorded && !isWaiting)
        report('journal-cut', 'it ends before the record that was made from it');
    } catch (fault) {
      const isDamage = isWritError(fault, 'JOURNAL_CORRUPT') || isWritError(fault, 'OBJECT_CORRUPT');
      if (!isDamage) throw fault;
      report('journal-corrupt', fault.message);
    }
  }
  return { journals, problems };
}

/** The step that writes the run's record. */
function isRecordStep(data: unknown): boolean {
  const { step } = (data ?? {}) as { readonly step?: unknown };
  return typeof step === 'string' && /(?:^|\/)record\/run$/.test(step);
}
