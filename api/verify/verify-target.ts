import { commitIdOf, parseCommit } from '../../attest/verify/git-commit.ts';
import { nothingThere, oneCheck, type VerifyReport } from '../../attest/verify/report.ts';
import { isWritError } from '../../core/base/errors.ts';
import { decidedCommit } from '../../engine/store/record/decided-commit.ts';
import type { FindRun } from '../../engine/store/record/find-run.ts';
import { sealingRecords } from '../../engine/store/record/sealing-records.ts';
import type { RunStore } from '../../engine/store/run-store.ts';
import { readObjects } from '../../engine/vcs/blobs.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { Belief } from './belief.ts';
import type { VerifyDemands } from './demands.ts';
import { gitEvidence } from './git-evidence.ts';
import { demandOf } from './policy-demand.ts';
import type { Meaning } from './target-meanings.ts';
import { howToFetch, unreadable } from './unreadable.ts';
import type { VerifiedTarget } from './verified-target.ts';
import { verifySource } from './verify-source.ts';

/**
 * A commit or a run of a repository, as the target was understood. One without a seal, that is not here, or whose
 * objects a partial clone left behind is not verified; one whose record cannot be read for what it holds is refuted:
 * whoever pushes refs must not choose between a verdict and a fault.
 */
export async function verifyTarget(...asked: Parameters<typeof verifyFound>): Promise<VerifiedTarget> {
  try {
    return await verifyFound(...asked);
  } catch (fault) {
    const report = unreadable(fault);
    if (report === undefined) throw fault;
    return { target: asked[3], kind: 'run', report };
  }
}

async function verifyFound(
  belief: Belief,
  repository: Repository,
  demands: VerifyDemands,
  target: string,
  meaning: Exclude<Meaning, { readonly kind: 'file' }>,
  findRun: FindRun,
): Promise<VerifiedTarget> {
  const found =
    meaning.kind === 'run'
      ? await findByRun(repository, meaning.runId, findRun)
      : await findByCommit(repository, meaning.commit, findRun);
  const policy = demands.policy === undefined ? undefined : demandOf(demands.policy, async () => repository);
  const { runId, commit, store } = found;
  if (found.refuted) return { target, kind: 'run', report: found.refuted, ...(commit ? { commit } : {}) };
  const source =
    store && runId !== undefined && commit !== undefined
      ? await gitEvidence(repository, store, runId, commit, meaning.kind === 'commit' ? target : commit)
      : undefined;
  const named = {
    target,
    kind: 'run' as const,
    ...(runId === undefined ? {} : { runId }),
    ...(commit === undefined ? {} : { commit }),
  };
  if (!source) return { ...named, report: nothingThere(found.reason) };
  return { ...named, report: await verifySource(belief, source, demands, runId, policy) };
}

interface Found {
  readonly runId?: string;
  readonly commit?: string;
  readonly store?: RunStore;
  /** What is missing where something is. */
  readonly reason: string;
  /** Said of the commit itself. */
  readonly refuted?: VerifyReport;
}

async function findByRun(repository: Repository, wanted: string, findRun: FindRun): Promise<Found> {
  const { store, runId } = await findRun(wanted);
  const commit = await decidedCommit(repository, store, runId);
  return { runId, store, reason: 'the run has no commit', ...(commit === undefined ? {} : { commit }) };
}

async function findByCommit(repository: Repository, commit: string, findRun: FindRun): Promise<Found> {
  const [object] = await readObjects(repository, [commit]);
  const reckoned = object && commitIdOf(object.bytes, commit);
  if (reckoned !== undefined && reckoned !== commit)
    return {
      commit,
      reason: '',
      refuted: oneCheck({
        id: 'subject-commit',
        status: 'failed',
        code: 'mismatch',
        detail: { expected: commit, found: reckoned },
      }),
    };
  const [runId, ...more] = object ? (parseCommit(object.bytes)?.trailer('Run-Id') ?? []) : [];
  if (runId === undefined || more.length > 0) return { commit, reason: 'the commit names no run' };
  try {
    const found = await findRun(runId);
    // Of several records of a run the one that holds here need not be the one that sealed this commit.
    const sealing = (await sealingRecords(found.store, runId)).find((one) => one.commit === commit);
    return { commit, reason: '', ...found, ...(sealing && { store: sealing.store }) };
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND'))
      return {
        commit,
        runId,
        reason: `the run that the commit names is not in this repository: ${howToFetch}`,
      };
    throw fault;
  }
}
