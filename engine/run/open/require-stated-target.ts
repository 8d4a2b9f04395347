import { WritError } from '../../../core/base/errors.ts';
import { printable } from '../../../core/base/printable.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { namedBranch } from '../../vcs/named-branch.ts';
import { branchRef, encodeId } from '../../vcs/ref-name.ts';
import type { Repository } from '../../vcs/repository.ts';

/** The branch that a run would move, and how that is known. */
export interface ReopenedTarget {
  readonly runId: string;
  readonly ref: string;
  /** Whether it stands here already, so that the policy is that of its tip. */
  readonly exists: boolean;
  /** Whether the policy is that of a branch here, and not of a commit that only the claim names. */
  readonly hasPolicy: boolean;
  /** `--onto` of the person who resumes. */
  readonly onto: string | undefined;
  /** From a memory that nobody here vouches for. */
  readonly isClaimed: boolean;
}

/**
 * Which branch moves, and by whose policy, is no detail of a claim: its base may be a commit that nobody here has put
 * on any branch. Taken without more words are the branch that the contract names, one that people approve (their
 * signatures hold it, under signers of this repository), and the one that the run makes for itself under the policy of
 * a branch; any other where the person who resumes names it: TARGET_UNCONFIRMED. A branch that is named and is not the
 * run's own is refused for every run.
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
      ? `the record of the run says that it lands on \`${shown}\`, and nobody here vouches for that record`
      : `the record of the run says that it lands on \`${shown}\`, judged by the policy of a commit that it brings itself, and nobody here vouches for that record`,
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
