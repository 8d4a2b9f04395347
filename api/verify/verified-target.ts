/* The result type of one verified target. */
import {
  askedCommitId,
  type VerifyCheck,
  type VerifyReport,
  withChecks,
} from '../../attest/verify/report.ts';
import type { SkippedPart } from './split-file.ts';

/** One target of `writ verify`, and what was found. */
export interface VerifiedTarget {
  readonly target: string;
  readonly kind: 'run' | 'evidence' | 'attestation' | 'log-proof';
  readonly runId?: string;
  readonly commit?: string;
  readonly report: VerifyReport;
  /** The target `A..B` that this commit is one of. */
  readonly range?: string;
  /** Options that had no effect on this target. */
  readonly withoutEffect?: readonly string[];
  /** Other parts of its file that were not verified, on the first target of that file. */
  readonly skipped?: readonly (SkippedPart & { readonly target: string })[];
}

/**
 * Refutes the target if it is not about one of the requested commits. Without requested commits, every commit passes.
 */
export function withRequestedCommit(
  verified: VerifiedTarget,
  commits: readonly string[] | undefined,
): VerifiedTarget {
  const { commit, report } = verified;
  if (commits === undefined || commit === undefined || commits.includes(commit)) return verified;
  const check: VerifyCheck = {
    id: askedCommitId,
    status: 'failed',
    code: 'wrong-subject',
    detail: { expected: commits, found: commit },
  };
  return { ...verified, report: withChecks(report, [check]) };
}
