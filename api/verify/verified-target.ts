import type { VerifyReport } from '../../attest/verify/report.ts';
import type { SkippedPart } from './select-parts.ts';

/** One target of `writ verify`, and what was found. */
export interface VerifiedTarget {
  readonly target: string;
  readonly kind: 'run' | 'evidence' | 'attestation' | 'log-proof';
  readonly runId?: string;
  readonly commit?: string;
  readonly report: VerifyReport;
  /** Options that were given and that nothing here answers to. */
  readonly withoutEffect?: readonly string[];
  /** Other parts of its file that were not verified, on the first target of that file. */
  readonly skipped?: readonly (SkippedPart & { readonly target: string })[];
}
