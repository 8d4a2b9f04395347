/* Finds target, base and policy commit of a resumed run, also after the target moved. */
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Journal } from '../../store/journal.ts';
import type { RunStore } from '../../store/stores.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import { describeLocal } from '../../workspace/git/include-local.ts';
import { describeObjects } from '../../workspace/git/read-objects.ts';
import { branchRef, encodeId } from '../../workspace/git/ref-name.ts';
import { readRef } from '../../workspace/git/refs.ts';
import { emptyTreeOf, type Repository } from '../../workspace/git/repository.ts';
import { countCommits, treeOf } from '../../workspace/git/resolve-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import {
  findPolicy,
  namedBranch,
  reopenTarget,
  requireReplaceable,
  shortBranch,
} from '../../workspace/git/target.ts';
import { carryReader } from '../../workspace/patch/carry-reader.ts';
import { normalisePatch } from '../../workspace/patch/normalise.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import type { StartedRun } from '../record/started-run.ts';
import { parseWaitingRecord, waitingPath } from '../record/stored-approvals.ts';
import type { LocalDecision } from '../state/commit-wording.ts';
import type { Lag, Landing } from '../state/policies.ts';
import { findForeignPolicy } from '../state/policies.ts';
import type { ResumeRequest } from '../state/run-request.ts';
import { readCandidate } from './read-authorship.ts';
import { isSealing } from './requirements.ts';

/**
 * Returns target, policy and base of the start of a run. A resume verifies them: throws TARGET_MOVED if the branch
 * moved, or if the policy commit is not the one that the rule gives. Without a journal they are only a claim, and no
 * move is detected. During sealing, the seal itself finds out whether the run or another process moved the branch; in
 * the second case it rolls back.
 */
export async function reopenLanding(
  repository: Repository,
  journal: Journal | undefined,
  started: StartedRun,
  contract: AdmittedContract,
  { cancel }: Pick<ResumeRequest, 'cancel'>,
): Promise<Landing> {
  const { ref } = started.target;
  const expected = started.target.expected ?? undefined;
  const stated = {
    ...(started.replaces === undefined ? {} : { replaces: started.replaces }),
    base: { commit: started.base.commit ?? undefined, tree: started.base.tree },
    policy: { ...started.policy, commit: started.policy.commit ?? undefined },
    ...(started.lag === undefined ? {} : { lag: started.lag }),
    ...(started.foreign === undefined ? {} : { foreign: started.foreign }),
  };
  // Whatever has become of the branch, a run can be ended.
  if (cancel !== undefined) return { ...stated, target: { ref, expected, checkedOutHere: false } };
  const target = await reopenTarget(repository, { ref, expected });
  if (journal && isSealing(journal)) return { ...stated, target };
  const { base, policy } = stated;
  const tip = await readRef(repository, ref);
  if (tip !== expected) {
    throw moved(`\`${printable(ref)}\` was moved since the run was started`, {
      ref,
      expected: expected ?? null,
      found: tip ?? null,
    });
  }
  const stands = base.commit === undefined ? emptyTreeOf(repository) : await treeOf(repository, base.commit);
  if (stands !== base.tree) {
    throw new WritError('JOURNAL_CORRUPT', {
      message: 'the journal names a base commit, and the tree of another one',
      detail: { commit: base.commit ?? null, tree: base.tree },
    });
  }
  if (stated.replaces) {
    await requireReplaceable(repository, target, base, expected);
    return { ...stated, target };
  }
  const { baseRef } = contract.effective.metadata.target;
  const now = await findPolicy(repository, { target, baseRef, base });
  if (now.commit !== policy.commit || now.tree !== policy.tree || !isSameBranch(now.ref, policy.ref)) {
    throw moved('the policy that the run was started under is not the one that would apply now', {
      ref: now.ref ?? null,
      expected: policy.commit ?? null,
      found: now.commit ?? null,
    });
  }
  // The lag is shown to people, so a claim's value must be verified.
  if (!journal && stated.lag) await requireLag(repository, stated.lag, policy.commit);
  // Uses the ref's name in this clone, which must still hold when the branch moves.
  if (journal) return { ...stated, policy: now, target };
  // A claim must not suppress this warning.
  const foreign = await findForeignPolicy(repository, target, now);
  const { foreign: _, ...rest } = stated;
  return { ...rest, policy: now, target, ...(foreign ? { foreign } : {}) };
}

/** A branch that is only tracked in one clone is a local one in another. */
function isSameBranch(left: string | undefined, right: string | undefined): boolean {
  return (
    left === right || (left !== undefined && right !== undefined && shortBranch(left) === shortBranch(right))
  );
}

async function requireLag(repository: Repository, lag: Lag, policy: string | undefined): Promise<void> {
  const [start] = await describeObjects(repository, [lag.from]);
  if (start?.type !== 'commit') {
    throw new WritError('RUN_NOT_RESUMABLE', {
      message: `the commit \`${lag.from}\`, where the change starts, is not in this clone`,
      detail: { commit: lag.from },
      hints: ['bring the whole history: `git fetch --unshallow`', 'or resume it in a clone that has it'],
    });
  }
  const counted = policy === undefined ? 0 : await countCommits(repository, lag.from, policy);
  if (counted === lag.commits) return;
  throw new WritError('JOURNAL_CORRUPT', {
    message: `the journal says that the change starts ${lag.commits} commits behind the policy commit; there are ${counted}`,
    detail: { from: lag.from, policy: policy ?? null, expected: counted, found: lag.commits },
  });
}

function moved(message: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('TARGET_MOVED', {
    message,
    detail,
    hints: ['run again on the new tip', 'end this run: `writ cancel RUN`'],
  });
}

/**
 * The landing on the tip that the target moved to, if the run waits for approvals of this candidate and both tips have
 * `[approvals] carry = "equivalent"`. `undefined`: the run keeps the landing that it was started with.
 */
export async function findMovedLanding(
  repository: Repository,
  { objects, refs }: RunStore,
  { runId, target, base, lag, replaces }: StartedRun,
  candidate: StartedRun['candidate'],
  { effective }: AdmittedContract,
): Promise<Landing | undefined> {
  if (replaces || candidate === undefined || target.expected === null || base.commit === null)
    return undefined;
  const tip = await readRef(repository, target.ref);
  if (tip === undefined || tip === target.expected) return undefined;
  const bytes = await objects.read(refs.run(runId), waitingPath);
  if (bytes === undefined) return undefined;
  const waiting = parseWaitingRecord(bytes);
  if (waiting.for !== 'approval') return undefined;
  const { candidateTree, baseCommit: waited } = waiting.subject;
  // A run that moved and stopped before it waited again: its approvals are of the candidate before.
  const reader = carryReader(repository);
  const isForward = async (from: string, to: string): Promise<boolean> =>
    (await reader.isAncestor(from, to)) ?? refuseIncomplete(target.ref, from, to);
  const hasMoved = waited !== null && waited !== base.commit && (await isForward(waited, base.commit));
  if (candidateTree !== candidate.tree && !hasMoved) return undefined;
  for (const commit of [tip, target.expected]) if (!(await reader.carriesApprovals(commit))) return undefined;
  if (!(await isForward(target.expected, tip))) return undefined;

  const moved = await reopenTarget(repository, { ref: target.ref, expected: tip });
  const newBase = { commit: tip, tree: await treeOf(repository, tip) };
  const { baseRef } = effective.metadata.target;
  const policy = await findPolicy(repository, { target: moved, baseRef, base: newBase });
  const foreign = await findForeignPolicy(repository, moved, policy);
  const from = lag?.from ?? base.commit;
  const commits = await countCommits(repository, from, tip);
  return {
    base: newBase,
    target: moved,
    policy,
    ...(commits === 0 ? {} : { lag: { from, commits } }),
    ...(foreign === undefined ? {} : { foreign }),
  };
}

function refuseIncomplete(ref: string, from: string, to: string): never {
  throw new WritError('TARGET_MOVED', {
    message: `\`${printable(ref)}\` moved, and the history from ${from} to ${to} is incomplete in this clone`,
    detail: { ref, expected: from, found: to },
    hints: ['`git fetch --unshallow` fetches the history, then resume the run again'],
  });
}

/**
 * What the run decided about local changes, on the new tip: included content is merged onto it as the candidate is, so
 * that it can still be compared with the working tree. PATCH_CONFLICT; the run then stays as it is.
 */
export async function localOntoTip(
  scratch: Scratch,
  { base }: Pick<StartedRun, 'base'>,
  local: LocalDecision | undefined,
  landing: Landing,
): Promise<LocalDecision | undefined> {
  if (local?.included === undefined) return local;
  const { choice, included } = local;
  const tree = await mergeOnto(scratch, base.tree, included.tree, landing);
  const described = await describeLocal(scratch, landing.base.tree, tree);
  // The target may hold by now what was included.
  return described.paths.length === 0 ? { choice } : { choice, included: { tree, ...described } };
}

/** The candidate merged onto the new tip of its target. PATCH_CONFLICT; the run then stays as it is. */
export async function mergeOntoTip(
  scratch: Scratch,
  { runId, base }: Pick<StartedRun, 'runId' | 'base'>,
  candidate: StartedRun['candidate'],
  landing: Landing,
): Promise<PatchSet | undefined> {
  const before = { commit: base.commit ?? undefined, tree: base.tree };
  const patch = await readCandidate(scratch, before, runId, candidate);
  if (patch === undefined) return undefined;
  return normalisePatch(
    scratch,
    landing.base,
    await mergeOnto(scratch, base.tree, patch.candidateTree, landing),
  );
}

async function mergeOnto(scratch: Scratch, base: string, tree: string, landing: Landing): Promise<string> {
  const merged = await mergeTrees(scratch, base, landing.base.tree, tree);
  if (merged.tree !== undefined) return merged.tree;
  const paths = merged.conflicts.map(printable);
  const listed = paths.slice(0, 5).map((path) => `\`${path}\``);
  throw new WritError('PATCH_CONFLICT', {
    message: `\`${printable(landing.target.ref)}\` moved, and the change does not merge onto it: conflicts in ${listed.join(', ')}`,
    detail: { ref: landing.target.ref, tip: landing.base.commit, paths: paths.slice(0, 1000) },
  });
}

/** The branch that a run would move, and how that is known. */
interface ReopenedTarget {
  readonly runId: string;
  readonly ref: string;
  /** Whether the branch exists here already, so that the policy is that of its tip. */
  readonly exists: boolean;
  /** Whether the policy is that of a branch here, and not of a commit that only the claim names. */
  readonly hasPolicy: boolean;
  /** `--onto` of the person who resumes. */
  readonly onto: string | undefined;
  /** The values come from an unauthenticated journal. */
  readonly isClaimed: boolean;
}

/**
 * A claim must not choose the branch to move, or its policy: its base may be a commit that is on no branch here.
 * Three branches are accepted without confirmation. The first is the branch that the spec names. The second is a
 * branch that needs approvals, because signatures from this repository's signers bind it. The third is the run's own
 * branch under the policy of a branch here. For any other branch, `--onto` must name it, or TARGET_UNCONFIRMED is
 * thrown. If `--onto` names a branch that is not the run's, every run is refused.
 */
export async function requireStatedTarget(
  repository: Repository,
  { effective: { metadata, risk } }: AdmittedContract,
  { runId, ref, exists, hasPolicy, onto, isClaimed }: ReopenedTarget,
): Promise<void> {
  const shown = printable(ref.replace(/^refs\/heads\//, ''));
  if (onto !== undefined) {
    if (branchRef(onto) === ref) return;
    throw unconfirmed(
      `the run lands on \`${shown}\`, as it did when it was started, and not on \`${printable(onto)}\``,
    );
  }
  if (!isClaimed) return;
  if (exists && risk.humanInLoop.required) return;
  if (exists && ref === (await namedBranch(repository, metadata.target.baseRef))) return;
  if (hasPolicy && ref === `refs/heads/writ/${encodeId(runId)}`) return;
  throw unconfirmed(
    hasPolicy
      ? `the record of the run says that it lands on \`${shown}\`, and that record cannot be authenticated on this machine`
      : `the record of the run says that it lands on \`${shown}\`, evaluated with the policy of a commit that it brings itself, and that record cannot be authenticated on this machine`,
  );

  function unconfirmed(message: string): WritError {
    const hints = [`say that you want it there: \`writ resume ${runId} --onto ${shown}\``];
    return new WritError('TARGET_UNCONFIRMED', {
      message,
      detail: { run_id: runId, ref: printable(ref) },
      hints,
    });
  }
}
