import type { Anchors } from '../../attest/verify/anchors.ts';
import { parseCommit } from '../../attest/verify/git-commit.ts';
import { nothingThere } from '../../attest/verify/report.ts';
import { systemClock } from '../../core/base/clock.ts';
import { isWritError } from '../../core/base/errors.ts';
import { findRun } from '../../core/run/find-runs.ts';
import { readRun } from '../../core/run/read-run.ts';
import type { RunStore } from '../../core/run/run-store.ts';
import { readObjects } from '../../core/vcs/blobs.ts';
import type { Repository } from '../../core/vcs/repository.ts';
import type { CommandContext } from '../command.ts';
import { gitEvidence } from '../git-evidence.ts';
import type { VerifiedTarget } from '../report/verification.ts';
import type { VerifyDemands } from './options.ts';
import type { Meaning } from './target-meanings.ts';
import { verifySource } from './verify-source.ts';

/** A commit or a run of a repository, as the target was understood; one without a seal is not verified. */
export async function verifyTarget(
  context: Pick<CommandContext, 'env'>,
  repository: Repository,
  anchors: Anchors,
  demands: VerifyDemands,
  target: string,
  meaning: Exclude<Meaning, { readonly kind: 'file' }>,
): Promise<VerifiedTarget> {
  const found =
    meaning.kind === 'run'
      ? await findByRun(repository, meaning.runId)
      : await findByCommit(repository, meaning.commit);
  const { runId, commit, store } = found;
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
  return { ...named, report: await verifySource(context, source, anchors, demands, runId) };
}

interface Found {
  readonly runId?: string;
  readonly commit?: string;
  readonly store?: RunStore;
  /** What is missing where something is. */
  readonly reason: string;
}

async function findByRun(repository: Repository, wanted: string): Promise<Found> {
  const { store, runId } = await findRun(repository, systemClock, wanted);
  const { decision } = await readRun(repository, store, runId);
  return {
    runId,
    store,
    reason: 'the run has no commit',
    ...(decision?.commitSha === undefined ? {} : { commit: decision.commitSha }),
  };
}

async function findByCommit(repository: Repository, commit: string): Promise<Found> {
  const [object] = await readObjects(repository, [commit]);
  const [runId, ...more] = object ? (parseCommit(object.bytes)?.trailer('Run-Id') ?? []) : [];
  if (runId === undefined || more.length > 0) return { commit, reason: 'the commit names no run' };
  try {
    return { commit, reason: '', ...(await findRun(repository, systemClock, runId)) };
  } catch (fault) {
    if (isWritError(fault, 'RUN_NOT_FOUND'))
      return { commit, runId, reason: 'the run that the commit names is not in this repository' };
    throw fault;
  }
}
