/* Reads the decision of a stored run, and finds the commits that its records sealed. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { readJournal } from '../parse-journal.ts';
import { journalPath } from '../run-directory.ts';
import { parseObject, type StoredObject } from '../stored-object.ts';
import type { RunStore } from '../stores.ts';
import { type GateReport, readGateReport } from './gate-report.ts';
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

/** The report and the decision of a run that was decided or waits. */
export interface StoredDecision {
  readonly isWaiting: boolean;
  /** OBJECT_CORRUPT. */
  read(): { readonly report: GateReport; readonly decision: StoredObject<'decision'> };
}

const waitingDecision = `${waitingFolder}/decision.json`;

/** The files that `storedDecision` reads. */
export const decisionPaths = [
  'gate-report.json',
  'decision.json',
  waitingDecision,
  sealPaths.rollback,
] as const;

/** The decision among the files of a run's record; a rollback overrides the decision before it. */
export function storedDecision(files: ReadonlyMap<string, Buffer>): StoredDecision | undefined {
  const [report, decided, waiting, rollback] = decisionPaths.map((path) => files.get(path));
  const decision = decided === undefined ? waiting : (rollback ?? decided);
  if (report === undefined || decision === undefined) return undefined;
  return {
    isWaiting: decided === undefined,
    read: () => ({ report: readGateReport(report), decision: parseObject('decision', decision) }),
  };
}

/**
 * The commit that the run's decision names; `undefined` if there is none, or no decision. OBJECT_CORRUPT for a
 * damaged record, RUN_NOT_FOUND if this repository has no data of the run.
 */
export async function decidedCommit(
  repository: Repository,
  { objects, refs }: RunStore,
  runId: string,
): Promise<string | undefined> {
  const files = await objects.readMany(refs.run(runId), [...decisionPaths, maskedPath]);
  const stored = storedDecision(files);
  const found = stored?.read();
  if (stored?.isWaiting === false) {
    const masked = files.get(maskedPath);
    if (masked) parseMaskedRecord(masked);
    return found?.decision.commit_sha;
  }
  const { records } = await readJournal(journalPath(repository, runId));
  if (!stored && records.length === 0) throw new WritError('RUN_NOT_FOUND', { detail: { run_id: runId } });
  return undefined;
}
