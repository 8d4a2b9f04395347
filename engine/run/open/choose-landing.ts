import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { countCommits } from '../../vcs/count-commits.ts';
import { findPolicy } from '../../vcs/find-policy.ts';
import { planTarget, type Target } from '../../vcs/plan-target.ts';
import type { Repository } from '../../vcs/repository.ts';
import { type Base, isAncestor, mergeBase, treeOf } from '../../vcs/resolve-commit.ts';
import { findForeignPolicy, requirePolicyOf } from '../state/foreign-policy.ts';
import type { Landing } from '../state/landing.ts';
import type { Origin } from '../state/resolve-origin.ts';
import type { ChangeSource, RunRequest } from '../state/run-request.ts';

/** What is said of where a change is to land, and what kind of change it is. */
type LandingRequest = Pick<RunRequest, 'onto' | 'heldFor' | 'noMerge' | 'policy'> & {
  readonly kind: ChangeSource['kind'];
};

/**
 * Fixes target, policy and base of a run that starts (4-resolutions, Target ref and Policy commit). A change that
 * starts behind the tip of its target is judged as merged onto it; TARGET_MOVED where that cannot be, or was not
 * wanted.
 */
export async function chooseLanding(
  repository: Repository,
  request: LandingRequest,
  contract: AdmittedContract,
  runId: string,
  { base: start, range }: Origin,
): Promise<Landing> {
  const { baseRef } = contract.effective.metadata.target;
  const { onto } = request;
  const target = await planTarget(repository, {
    ...(onto === undefined ? {} : { onto }),
    baseRef,
    baseCommit: start.commit,
    runId,
  });
  const policy = await findPolicy(repository, { target, baseRef, base: start });
  if (request.policy !== undefined) await requirePolicyOf(repository, request.policy, policy);
  const meant = request.heldFor === undefined ? target : { ref: request.heldFor };
  const foreign = await findForeignPolicy(repository, meant, policy);
  const tip = target.expected;
  if (tip !== undefined && tip !== start.commit) await requireMergeable(repository, request, target, start);
  if (tip === undefined && range && policy.ref !== undefined && policy.commit !== undefined)
    await requireOfOthers(repository, policy.ref, policy.commit, range.tip, start.commit);
  const commits =
    start.commit === undefined || policy.commit === undefined || policy.commit === start.commit
      ? 0
      : await countCommits(repository, start.commit, policy.commit);
  return {
    base:
      tip === undefined || tip === start.commit
        ? start
        : { commit: tip, tree: await treeOf(repository, tip) },
    target,
    policy,
    ...(start.commit === undefined || commits === 0 ? {} : { lag: { from: start.commit, commits } }),
    ...(foreign === undefined ? {} : { foreign }),
  };
}

async function requireMergeable(
  repository: Repository,
  { kind, noMerge }: LandingRequest,
  { ref, expected: tip = '' }: Target,
  { commit }: Base,
): Promise<void> {
  const shown = printable(ref);
  const isAhead = commit !== undefined && (await isAncestor(repository, commit, tip));
  if (isAhead && kind !== 'worker' && noMerge !== true) return;
  const why = !isAhead
    ? 'and does not hold it either'
    : kind === 'worker'
      ? 'and a change that is made here is made on the base'
      : 'and `--no-merge` was given';
  throw new WritError('TARGET_MOVED', {
    message: `\`${shown}\` does not stand at the base commit, ${why}`,
    detail: { ref, expected: commit ?? null, found: tip },
    hints: [
      isAhead && kind !== 'worker'
        ? 'drop `--no-merge`: what is judged is then the merge onto the tip'
        : 'choose a branch at the base commit, or a new one, with `--onto`; or start from that branch',
    ],
  });
}

/** A branch that holds commits of the range would let the change bring its own judges. */
async function requireOfOthers(
  repository: Repository,
  ref: string,
  policy: string,
  tip: string,
  start: string | undefined,
): Promise<void> {
  const shared = await mergeBase(repository, policy, tip);
  if (shared === undefined || (start !== undefined && (await isAncestor(repository, shared, start)))) return;
  throw new WritError('POLICY_IN_CANDIDATE', {
    message: `\`${printable(ref)}\`, whose policy would judge the change, holds commits of the change itself`,
    detail: { ref, policy, shared },
  });
}
