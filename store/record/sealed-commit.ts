/* Finds the commits that the records of a run sealed. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readJournal } from '../parse-journal.ts';
import { journalPath } from '../run-directory.ts';
import { parseObject } from '../stored-object.ts';
import type { RunStore } from '../stores.ts';
import { readGateReport } from './gate-report.ts';
import { sealPaths, waitingFolder } from './record-paths.ts';
import { maskedPath, parseMaskedRecord } from './summaries.ts';

/** `store` reads this record as the record of the run. */
interface SealingRecord {
  readonly store: RunStore;
  readonly commit: string;
  /** Full name of the branch that the commit was put on. */
  readonly target: string;
}

/**
 * The records of a run that sealed a commit: the current one, then those kept beside it. A record that was rolled
 * back, or cannot be read, sealed none.
 */
export async function sealingRecords(store: RunStore, runId: string): Promise<readonly SealingRecord[]> {
  const beside = (await store.objects.refs(store.refs.fetched(runId))).map(({ ref }) => ref);
  const stores = beside
    .filter((ref) => ref.endsWith('-run'))
    .map((run): RunStore => {
      const content = run.replace(/run$/, 'content');
      const refs = { ...store.refs, run: () => run };
      return { ...store, refs: beside.includes(content) ? { ...refs, content: () => content } : refs };
    });
  const found: SealingRecord[] = [];
  for (const one of [store, ...stores]) {
    const sealed = await sealedBy(one, runId);
    if (sealed) found.push({ store: one, ...sealed });
  }
  return found;
}

async function sealedBy(
  { objects, refs }: RunStore,
  runId: string,
): Promise<Omit<SealingRecord, 'store'> | undefined> {
  try {
    const files = await objects.readMany(refs.run(runId), ['decision.json', sealPaths.rollback]);
    const decision = files.get('decision.json');
    if (decision === undefined || files.has(sealPaths.rollback)) return undefined;
    const { commit_sha: commit, target_ref: target } = parseObject('decision', decision);
    return commit === undefined || target === undefined ? undefined : { commit, target };
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

const paths = {
  report: 'gate-report.json',
  decision: 'decision.json',
  waiting: `${waitingFolder}/decision.json`,
} as const;

/**
 * The commit that the run's decision names; `undefined` if there is none, or no decision. OBJECT_CORRUPT for a
 * damaged record, RUN_NOT_FOUND if this repository has no data of the run.
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
