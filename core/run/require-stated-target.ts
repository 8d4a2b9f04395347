import { WritError } from '../base/errors.ts';
import { namedBranch } from '../vcs/named-branch.ts';
import { branchRef, encodeId, printable } from '../vcs/ref-name.ts';
import type { Repository } from '../vcs/repository.ts';
import type { AdmittedContract } from './admit-contract.ts';

/** The branch that a run would move, and how that is known. */
export interface ReopenedTarget {
  readonly runId: string;
  readonly ref: string;
  /** `--onto` of the person who resumes. */
  readonly onto: string | undefined;
  /** From a memory that nobody here vouches for. */
  readonly isClaimed: boolean;
}

/**
 * Which branch moves is no detail of a claim. Taken without more words are the branch that the contract names and the one that the run makes for itself; any
 * other where the person who resumes names it, or where people approve it, whose signatures hold it: TARGET_UNCONFIRMED. A branch that is named and is not
 * the run's own is refused for every run.
 */
export async function requireStatedTarget(
  repository: Repository,
  { effective: { metadata, risk } }: AdmittedContract,
  { runId, ref, onto, isClaimed }: ReopenedTarget,
): Promise<void> {
  const shown = printable(ref.replace(/^refs\/heads\//, ''));
  if (onto !== undefined) {
    if (branchRef(onto) === ref) return;
    throw unconfirmed(
      `the run lands on \`${shown}\`, as it did when it was started, and not on \`${printable(onto)}\``,
    );
  }
  if (!isClaimed || risk.humanInLoop.required) return;
  if (ref === `refs/heads/writ/${encodeId(runId)}`) return;
  if (ref === (await namedBranch(repository, metadata.target.baseRef))) return;
  throw unconfirmed(
    `the record of the run says that it lands on \`${shown}\`, and nobody here vouches for that record`,
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
