import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import type { Journal } from '../../store/journal.ts';
import { describeObjects } from '../../vcs/blobs.ts';
import { countCommits } from '../../vcs/count-commits.ts';
import { shortBranch } from '../../vcs/default-branch.ts';
import { findPolicy } from '../../vcs/find-policy.ts';
import { reopenTarget } from '../../vcs/plan-target.ts';
import { readRef } from '../../vcs/refs.ts';
import { emptyTreeOf, type Repository } from '../../vcs/repository.ts';
import { treeOf } from '../../vcs/resolve-commit.ts';
import type { StartedRun } from '../record/started-run.ts';
import { findForeignPolicy } from '../state/foreign-policy.ts';
import type { Lag, Landing } from '../state/landing.ts';
import type { ResumeRequest } from '../state/run-request.ts';
import { isSealing } from './refuse-sealing.ts';

/**
 * Target, policy and base that a run was started with. Where it goes on they are asked for again: a branch that is not
 * where it was, or a policy commit that is not the one that the rule gives, is TARGET_MOVED. Without a journal they are
 * a claim, and nothing was moved. Once the run is being sealed, the seal itself finds out who moved the branch: the
 * run, or somebody else, and then it is rolled back.
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
  const { baseRef } = contract.effective.metadata.target;
  const now = await findPolicy(repository, { target, baseRef, base });
  if (now.commit !== policy.commit || now.tree !== policy.tree || !isSameBranch(now.ref, policy.ref)) {
    throw moved('the policy that the run was started under is not the one that would judge it now', {
      ref: now.ref ?? null,
      expected: policy.commit ?? null,
      found: now.commit ?? null,
    });
  }
  // How far a change was behind is said to people: not on the word of a claim.
  if (!journal && stated.lag) await requireLag(repository, stated.lag, policy.commit);
  // By the name that it has here: that is what must still stand when the branch moves.
  if (journal) return { ...stated, policy: now, target };
  // Nor is it on the word of a claim that nobody is warned.
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
