/* Lists the runs of a repository, and what was shown to approvers. */
import { canonicalize } from '../../core/base/canonical.ts';
import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import type { ApprovalSubject } from '../../core/interfaces/approval.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import { findLandings, type Landing } from '../../store/landed.ts';
import { readJournal } from '../../store/parse-journal.ts';
import { type GateReport, readGateReport } from '../../store/record/gate-report.ts';
import { type FoundRun, listRunRefs } from '../../store/record/list-records.ts';
import { sealPaths, toJson, waitingFolder } from '../../store/record/record-paths.ts';
import { verdictDifferences, verdictDigest, verdictOf } from '../../store/record/verdict.ts';
import { journalPath, listRunDirectories } from '../../store/run-directory.ts';
import { parseObject } from '../../store/stored-object.ts';
import { joinStores, openStores, type RunStore, type Stores, storeRefs } from '../../store/stores.ts';
import { readSmall } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { Attempt, RunIdentity } from '../state/open-run.ts';
import { isUnfinished, readRun } from './read-run.ts';

/** One line of `writ runs`. */
export interface RunSummary {
  readonly runId: string;
  /** Absent where its record is damaged. */
  readonly threadId?: string;
  readonly startedAt: string;
  readonly state: RunView['state'];
  readonly summary: string;
  readonly specId: string;
  readonly decision?: string;
  readonly commitSha?: string;
  /** `sealed`: the sealed commit is not on the branch that counts (`store/landed.ts`). */
  readonly landing?: Landing['state'];
}

/** Runs of this repository, newest first: decided ones from refs, the rest from journals; read while others work. */
export async function listRuns(
  stores: Stores,
  repository: Repository,
  clock: Clock,
): Promise<readonly RunSummary[]> {
  const open = await openStores(stores, repository, clock);
  const refs = await listRunRefs(repository, open);
  const objects = joinStores(open);
  const here = await listRunDirectories(repository);
  const records = await summarise(repository, objects, refs);
  const decided = await withLandings(repository, await withStopped(repository, records, here));
  const known = new Set(refs.map(({ id }) => id));
  const undecided: RunSummary[] = [];
  for (const name of here) {
    if (known.has(name)) continue;
    const summary = await summariseJournal(repository, objects, name);
    if (summary) undecided.push(summary);
  }
  return [...decided, ...undecided].sort((a, b) => (a.runId < b.runId ? 1 : -1));
}

/**
 * Summarises a run known here only by its journal; `undefined` before the run began. A damaged journal is listed as
 * damaged and does not hide other runs.
 */
async function summariseJournal(
  repository: Repository,
  objects: ObjectStore,
  name: string,
): Promise<RunSummary | undefined> {
  try {
    const { records } = await readJournal(journalPath(repository, name));
    if (records.length === 0) return undefined;
    const store = { objects, refs: storeRefs('refs/ai') };
    const { runId, threadId, startedAt, state, spec } = await readRun(repository, store, name);
    return { runId, threadId, startedAt, state, summary: spec.summary, specId: spec.id };
  } catch (fault) {
    if (!isWritError(fault, 'JOURNAL_CORRUPT')) throw fault;
    const startedAt = toRfc3339(uuidTimeMs(name) ?? 0);
    return { runId: name, startedAt, state: 'interrupted', summary: '(its journal is damaged)', specId: '' };
  }
}

/**
 * The last commit on each target is `interrupted` if its run was stopped here before the working tree followed. Under a
 * later one nothing is left to follow.
 */
async function withStopped(
  repository: Repository,
  runs: readonly DecidedSummary[],
  here: readonly string[],
): Promise<readonly DecidedSummary[]> {
  const newest = new Map<string, string>();
  for (const { runId, decision, targetRef } of runs)
    if (decision === 'commit' && targetRef !== undefined && runId > (newest.get(targetRef) ?? ''))
      newest.set(targetRef, runId);
  const stopped = new Set<string>();
  for (const runId of newest.values())
    if (here.includes(runId) && (await isUnfinished(repository, runId))) stopped.add(runId);
  return runs.map((run) => (stopped.has(run.runId) ? { ...run, state: 'interrupted' } : run));
}

interface DecidedSummary extends RunSummary {
  readonly targetRef?: string;
}

/** The runs with the landing of each sealed commit. */
async function withLandings(
  repository: Repository,
  runs: readonly DecidedSummary[],
): Promise<readonly RunSummary[]> {
  const sealed = runs.flatMap(({ decision, commitSha, targetRef }) =>
    decision === 'commit' && commitSha !== undefined && targetRef !== undefined
      ? [{ commit: commitSha, target: targetRef }]
      : [],
  );
  const landings = await findLandings(repository, sealed);
  const states = new Map(sealed.map(({ commit }, index) => [commit, landings[index]?.state]));
  return runs.map(({ targetRef: _, ...run }) => {
    const landing = states.get(run.commitSha ?? '');
    return landing === undefined ? run : { ...run, landing };
  });
}

/** Objects that a line is made of are kilobytes; a ref that came from elsewhere may hold anything. */
const maxObjectBytes = 4 * 1024 * 1024;

const summaryFiles = [
  'run.json',
  'intent.json',
  'decision.json',
  sealPaths.rollback,
  `${waitingFolder}/decision.json`,
] as const;

async function summarise(
  repository: Repository,
  store: ObjectStore,
  runs: readonly FoundRun[],
): Promise<readonly DecidedSummary[]> {
  const names = runs.flatMap(({ commit }) =>
    commit === undefined ? [] : summaryFiles.map((file) => `${commit}:${file}`),
  );
  const objects = await readSmall(repository, names, maxObjectBytes);
  const summaries: DecidedSummary[] = [];
  for (const { id, ref, commit } of runs) {
    const beside = commit === undefined ? await store.readMany(ref, summaryFiles) : undefined;
    const files = summaryFiles.map((file) => (beside ? beside.get(file) : objects.get(`${commit}:${file}`)));
    const summary = toSummary(id, files);
    if (summary) summaries.push(summary);
  }
  return summaries;
}

/**
 * Returns `undefined` for a run that is neither decided nor waiting. A damaged record is listed as damaged and does
 * not hide other runs.
 */
function toSummary(id: string, files: readonly (Buffer | undefined)[]): DecidedSummary | undefined {
  const [run, intent, decided, rollback, waiting] = files;
  const decision = rollback ?? decided ?? waiting;
  if (!run || !intent || !decision) return undefined;
  const state = decided ? 'decided' : 'waiting';
  try {
    const { type, commit_sha: commitSha, target_ref: targetRef } = parseObject('decision', decision);
    const { summary, external_ids: external } = parseObject('intent', intent);
    const { started_at: startedAt, thread_id: threadId } = parseObject('run', run);
    return {
      runId: id,
      threadId,
      startedAt,
      state,
      summary,
      specId: external.intentspec_id ?? '',
      decision: type,
      ...(commitSha === undefined ? {} : { commitSha }),
      ...(targetRef === undefined ? {} : { targetRef }),
    };
  } catch (fault) {
    if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
    const startedAt = toRfc3339(uuidTimeMs(id) ?? 0);
    return { runId: id, startedAt, state, summary: '(its record is damaged)', specId: '' };
  }
}

/** A candidate to approve, with the gate report before any approval. */
export interface Shown {
  readonly subject: ApprovalSubject;
  readonly report: GateReport;
  readonly nowMs: number;
}

/** Folder of the waiting run's record that keeps what people were shown before. */
const earlierFolder = 'waiting/shown';

const maxEarlier = 20;

const stepsOf = ({ services: { steps } }: Pick<Attempt, 'services'>): Attempt['services']['steps'] =>
  steps.under('shown');

/** What was shown of this candidate last; `undefined` before anything was. */
export function lastShown(attempt: Pick<Attempt, 'services'>): Shown | undefined {
  return everShown(attempt).at(-1);
}

/** Everything that was shown of this candidate on this machine, oldest first. */
export function everShown(attempt: Pick<Attempt, 'services'>): readonly Shown[] {
  const steps = stepsOf(attempt);
  const shown: Shown[] = [];
  for (let n = 1; ; n += 1) {
    const ended = steps.ended(String(n));
    if (!ended) return shown;
    shown.push(ended.answer as Shown);
  }
}

/** Shows a report from now on, unless what is shown comes to the same verdict about the same change. */
export async function show(attempt: Attempt, report: GateReport): Promise<Shown> {
  const before = everShown(attempt);
  const subject = subjectOf(attempt, report);
  const last = before.at(-1);
  if (last && canonicalize(last.subject) === canonicalize(subject)) return last;
  return stepsOf(attempt).once(
    String(before.length + 1),
    (): Shown => ({ subject, report, nowMs: attempt.services.settings.clock.now() }),
  );
}

/** What an approval of this candidate with this report has to be about. */
function subjectOf(
  { identity: { runId, contract }, patch }: Pick<Attempt, 'identity' | 'patch'>,
  report: GateReport,
): ApprovalSubject {
  return {
    runId,
    baseCommit: patch.baseCommit ?? null,
    candidateTree: patch.candidateTree,
    patchDigest: patch.digest,
    specDigest: contract.digest,
    gateReportDigest: verdictDigest(report),
  };
}

/**
 * Gate reports that the run's ref lists as shown to people, here or on another machine. Use them only to compute
 * differences.
 */
export async function reportsOnRef({
  runId,
  store,
}: Pick<RunIdentity, 'runId'> & { readonly store: RunStore }): Promise<readonly GateReport[]> {
  const ref = store.refs.run(runId);
  if ((await store.objects.version(ref)) === undefined) return [];
  const earlier = (await store.objects.list(ref))
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${earlierFolder}/`))
    .slice(0, maxEarlier);
  const files = await store.objects.readMany(ref, [...earlier, 'gate-report.json']);
  return [...files.values()].flatMap((bytes) => {
    try {
      return [readGateReport(bytes)];
    } catch (fault) {
      if (isWritError(fault, 'OBJECT_CORRUPT')) return [];
      throw fault;
    }
  });
}

/** How a report differs from each verdict that was shown before, in words, by that verdict's digest. */
export function differencesFrom(
  earlier: readonly GateReport[],
  report: GateReport,
): ReadonlyMap<string, readonly string[]> {
  const now = verdictOf(report);
  return new Map(
    earlier.map((one) => [verdictDigest(one), verdictDifferences(verdictOf(one), now)] as const),
  );
}

/**
 * Those of the reports that come to another verdict than `report`, each verdict once, as files of a waiting run's
 * record.
 */
export function earlierFiles(
  earlier: readonly GateReport[],
  report: GateReport,
): readonly (readonly [string, Uint8Array])[] {
  const now = verdictDigest(report);
  const others = new Map(earlier.map((one) => [verdictDigest(one), one] as const));
  others.delete(now);
  return [...others.values()]
    .slice(-maxEarlier)
    .map((one, n) => [`${earlierFolder}/${n + 1}.json`, toJson(one)]);
}
