import { WritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readJournal } from '../parse-journal.ts';
import { journalPath } from '../run-directory.ts';
import type { RunStore } from '../run-store.ts';
import { parseObject } from '../stored-object.ts';
import { maskedPath, parseMaskedRecord } from './masked-record.ts';
import { readGateReport } from './read-gate-report.ts';
import { sealPaths } from './seal-paths.ts';
import { waitingFolder } from './waiting-folder.ts';

const paths = {
  report: 'gate-report.json',
  decision: 'decision.json',
  waiting: `${waitingFolder}/decision.json`,
} as const;

/**
 * The commit that a run was decided to become; `undefined` for one that has none, or is not decided. OBJECT_CORRUPT for
 * a record that is not what it must be, RUN_NOT_FOUND where nothing of the run is here.
 */
export async function decidedCommit(
  repository: Repository,
  { objects, refs }: RunStore,
  runId: string,
): Promise<string | undefined> {
  const wanted = [...Object.values(paths), sealPaths.rollback, maskedPath];
  const files = await objects.readMany(refs.run(runId), wanted);
  const report = files.get(paths.report);
  const decision = files.get(paths.decision);
  const waiting = files.get(paths.waiting);
  if (report && (decision || waiting)) readGateReport(report);
  if (report && decision) {
    const masked = files.get(maskedPath);
    if (masked) parseMaskedRecord(masked);
    return parseObject('decision', files.get(sealPaths.rollback) ?? decision).commit_sha;
  }
  const { records } = await readJournal(journalPath(repository, runId));
  if (report && waiting) parseObject('decision', waiting);
  else if (records.length === 0) throw new WritError('RUN_NOT_FOUND', { detail: { run_id: runId } });
  return undefined;
}
