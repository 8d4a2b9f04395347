import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { carryReader } from '../../patch/carry-reader.ts';
import { normalisePatch } from '../../patch/normalise.ts';
import type { RunStore } from '../../store/run-store.ts';
import { countCommits } from '../../vcs/count-commits.ts';
import { findPolicy } from '../../vcs/find-policy.ts';
import { describeLocal } from '../../vcs/include-local.ts';
import { mergeTrees } from '../../vcs/merge-trees.ts';
import { reopenTarget } from '../../vcs/plan-target.ts';
import { readRef } from '../../vcs/refs.ts';
import type { Repository } from '../../vcs/repository.ts';
import { treeOf } from '../../vcs/resolve-commit.ts';
import type { Scratch } from '../../vcs/scratch.ts';
import type { StartedRun } from '../record/started-run.ts';
import { parseWaitingRecord, waitingPath } from '../record/waiting-record.ts';
import { findForeignPolicy } from '../state/foreign-policy.ts';
import type { Landing } from '../state/landing.ts';
import type { LocalDecision } from '../state/local-decision.ts';
import { readCandidate } from './read-candidate.ts';

/**
 * The landing on the tip that the target moved to, if the run waits for approvals of this candidate and both tips have
 * `[approvals] carry = "equivalent"`. `undefined`: the run keeps the landing that it was started with.
 */
export async function findMovedLanding(
  repository: Repository,
  { objects, refs }: RunStore,
  { runId, target, base, lag }: StartedRun,
  candidate: StartedRun['candidate'],
  { effective }: AdmittedContract,
): Promise<Landing | undefined> {
  if (candidate === undefined || target.expected === null || base.commit === null) return undefined;
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
