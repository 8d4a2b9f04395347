/* Verifies a commit or a run of a repository. */
import { commitIdOf, parseCommit } from '../../attest/verify/evidence-source.ts';
import { nothingThere, oneCheck, type VerifyReport } from '../../attest/verify/report.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { FindRun } from '../../store/record/list-records.ts';
import { decidedCommit, sealingRecords } from '../../store/record/sealed-commit.ts';
import type { RunStore, Stores } from '../../store/stores.ts';
import { readObjects } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { VerificationData } from '../schemas/verification-schema.ts';
import type { Belief, VerifyDemands } from './demands.ts';
import { gitEvidence } from './git-evidence.ts';
import { lazyRepository } from './lazy-repository.ts';
import { demandOf } from './policy-demand.ts';
import { type Meaning, meaningOf } from './target-meanings.ts';
import { toVerificationData } from './verification-data.ts';
import { type VerifiedTarget, withRequestedCommit } from './verified-target.ts';
import { readRequest, type VerifyRequest } from './verify-request.ts';
import { verifySource } from './verify-source.ts';

/**
 * Verifies a commit or a run of a repository. A target is unverified if it has no seal, is missing here, or lacks
 * objects in a partial clone. A target with a malformed record is refuted, not reported as an error. Otherwise a
 * pusher of refs could replace a verdict with an error.
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
  /** Verdict on the commit itself. */
  readonly refuted?: VerifyReport;
}

async function findByRun(repository: Repository, wanted: string, findRun: FindRun): Promise<Found> {
  const { store, runId } = await findRun(wanted);
  const commit = await decidedCommit(repository, store, runId);
  if (commit === undefined) return { runId, store, reason: 'the run has no commit' };
  const reason = `commit ${commit} of the run is not in this repository: fetch a branch that holds it (in a shallow clone \`git fetch --unshallow\`), or \`git fetch REMOTE ${commit}\``;
  return { runId, store, commit, reason };
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

/** Returns the verdict if the error shows a missing or malformed record; `undefined` for any other error. */
function unreadable(fault: unknown): VerifyReport | undefined {
  if (isWritError(fault, 'RUN_NOT_FOUND')) return nothingThere(`${fault.message}: ${howToFetch}`);
  if (isWritError(fault, 'OBJECT_CORRUPT')) return nothingThere(fault.message, 'malformed');
  if (isWritError(fault, 'INPUT_TOO_LARGE')) return nothingThere(fault.message, 'unsupported');
  if (isWritError(fault, 'OBJECTS_MISSING')) {
    const left = [fault.detail.objects].flat().join(', ');
    return nothingThere(
      `the partial clone left ${left} behind: ${howToComplete}, or verify the exported file`,
    );
  }
  if (!isWritError(fault, 'GIT_FAILED')) return undefined;
  const { tree, command, absent } = fault.detail;
  // A missing object does not refute the record.
  if (absent !== undefined) return nothingThere(`${fault.message}: ${howToFetch}`);
  // The object is not a tree, or git failed while reading it.
  return tree !== undefined || command === 'cat-file' ? nothingThere(fault.message, 'malformed') : undefined;
}

/** A clone brings branches and tags alone. */
const howToFetch = '`writ fetch` brings it, or `git fetch REMOTE "+refs/ai/*:refs/ai/*"`';

const howToComplete =
  'fetch all objects with `git fetch --refetch --no-filter` (for records that git fetched, with `REMOTE "+refs/ai/*:refs/ai/*"`)';

/**
 * Verifies a commit or a run of the repository around `path` offline. `stores` may hold its runs. Defects of the
 * record are reported in the result.
 *
 * Throws for an invalid request: NOT_A_REPOSITORY, REF_NOT_FOUND, TARGET_AMBIGUOUS, USAGE, ANCHOR_UNUSABLE. Also
 * throws GIT_MISSING.
 */
export async function verifyInRepository(
  stores: Stores,
  path: string,
  target: string,
  request: VerifyRequest,
): Promise<VerificationData> {
  const { belief, demands } = await readRequest(request);
  await using repository = lazyRepository({ stores, cwd: path });
  const { open, findRun } = repository;
  const meaning = await meaningOf(path, target, undefined, open, findRun);
  if (meaning.kind === 'file')
    throw new WritError('USAGE', {
      message: `\`${printable(target)}\` is a file: expected the name of a commit or a run`,
      detail: { command: 'verify', found: printable(target) },
    });
  const found = await verifyTarget(belief, await open(), demands, target, meaning, findRun);
  return toVerificationData([withRequestedCommit(found, demands.commits)]);
}
