import type { ApprovalGround, ApprovalSubject, ApprovalVerdict } from '../../../core/contract/approval.ts';
import { carryReader } from '../../patch/carry-reader.ts';
import { findCarryFault } from '../../store/record/carry-fault.ts';
import { describeObjects } from '../../vcs/blobs.ts';
import { createCommit } from '../../vcs/create-commit.ts';
import type { Repository } from '../../vcs/repository.ts';
import type { Attempt } from '../state/attempt.ts';

/** Earlier candidates that are compared, and kept reachable: each costs a diff. */
const maxCandidates = 20;

/**
 * Says why an approval of an earlier candidate does not carry over to `subject` (`docs/approval.md`, Approvals over a
 * moved target). Each candidate is compared once.
 */
export function carryFaultIn(
  repository: Repository,
  subject: ApprovalSubject,
): NonNullable<ApprovalGround['carryFault']> {
  const reader = carryReader(repository);
  const known = new Map<string, Promise<string | undefined>>();
  const compare = async (earlier: ApprovalSubject): Promise<string | undefined> => {
    const fault = await findCarryFault(reader, earlier, subject, subject.patchDigest);
    return fault && `expected ${fault.expected}, found ${fault.found}`;
  };
  return async (earlier) => {
    const key = `${earlier.baseCommit} ${earlier.candidateTree}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    if (known.size >= maxCandidates) return `expected at most ${maxCandidates} candidates, found more`;
    const found = compare(earlier);
    known.set(key, found);
    return found;
  };
}

/**
 * The earlier candidates that approvals were signed for, as commits of the user's repository, so that they travel with
 * the run: approvers see what changed since then, and a verifier compares those that carried over with the sealed one.
 */
export async function anchorEarlier(
  { ground: { repository }, identity: { runId, startedAtMs } }: Pick<Attempt, 'ground' | 'identity'>,
  approvals: readonly ApprovalVerdict[],
): Promise<readonly string[]> {
  const found = new Map(
    approvals.flatMap(({ earlier }) =>
      earlier ? [[`${earlier.baseCommit} ${earlier.candidateTree}`, earlier] as const] : [],
    ),
  );
  const anchors: string[] = [];
  for (const { baseCommit, candidateTree } of [...found.values()].slice(0, maxCandidates)) {
    const [tree, base] = await describeObjects(repository, [candidateTree, baseCommit]);
    if (tree?.type !== 'tree' || base?.type !== 'commit') continue;
    anchors.push(
      await createCommit(repository, {
        tree: candidateTree,
        parents: [baseCommit],
        message: `writ: approved candidate of run ${runId}\n`,
        author: scheduler,
        committer: scheduler,
        authoredAtMs: startedAtMs,
        committedAtMs: startedAtMs,
      }),
    );
  }
  return anchors;
}

const scheduler = { name: 'writ', email: 'scheduler@writ.invalid' };
