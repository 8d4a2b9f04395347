/* Decides whether approvals of an earlier candidate carry over to another. */
import { printable } from '../../core/base/printable.ts';
import type { ApprovalSubject, CarryReader } from '../../core/interfaces/approval.ts';

export interface CarryFault {
  /** `missing`: objects that would show it are not in this repository. */
  readonly reason: 'missing' | 'policy-deny' | 'mismatch';
  readonly expected: string;
  readonly found: string;
}

type Candidate = Pick<ApprovalSubject, 'baseCommit' | 'candidateTree'>;

/**
 * Compares an earlier candidate with `now`. `patchDigest` is the digest of `now`'s canonical patch. Returns
 * `undefined` if the approvals may carry over:
 *
 * - the policies at both bases allow it
 * - the target only moved forward
 * - the canonical patches are equal byte by byte
 * - the old blobs of every changed file are equal
 *
 * Both bases are the policy commits of their candidates.
 */
export async function findCarryFault(
  reader: CarryReader,
  earlier: Candidate,
  now: Candidate,
  patchDigest: string,
): Promise<CarryFault | undefined> {
  if (earlier.baseCommit === null || now.baseCommit === null)
    return { reason: 'policy-deny', expected: 'two base commits', found: 'an unborn branch' };
  for (const commit of [now.baseCommit, earlier.baseCommit]) {
    const carries = await reader.carriesApprovals(commit);
    if (carries === undefined) return missing(`commit ${commit}`);
    const found = `commit ${commit} without it`;
    if (!carries) return { reason: 'policy-deny', expected: '[approvals] carry = "equivalent"', found };
  }
  const isForward = await reader.isAncestor(earlier.baseCommit, now.baseCommit);
  if (isForward === undefined) return missing(`the commits from ${earlier.baseCommit} to ${now.baseCommit}`);
  if (!isForward)
    return {
      reason: 'policy-deny',
      expected: `an ancestor of ${now.baseCommit}`,
      found: earlier.baseCommit,
    };
  const found = await reader.patchDigest(earlier.baseCommit, earlier.candidateTree);
  if (found === undefined) return missing(`tree ${earlier.candidateTree} of the approved candidate`);
  if (found !== patchDigest) return { reason: 'mismatch', expected: patchDigest, found };
  const edited = await reader.editedPaths(earlier.baseCommit, earlier.candidateTree, now.baseCommit);
  if (edited === undefined) return missing(`the files of the change at ${now.baseCommit}`);
  const [path] = edited;
  if (path === undefined) return undefined;
  return {
    reason: 'mismatch',
    expected: 'the same content at both bases',
    found: `a change of ${printable(path)}`,
  };
}

function missing(expected: string): CarryFault {
  return { reason: 'missing', expected, found: 'not in this repository' };
}
