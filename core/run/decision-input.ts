import type { Severity } from '../contract/finding.ts';
import type { StageName } from '../contract/stage.ts';

/** A finding without its words: what deciding needs, and what replay can compare years later. */
export interface DecidedFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly path?: string;
  readonly line?: number;
}

export interface DecidedStage {
  readonly stage: StageName;
  readonly status: 'passed' | 'failed' | 'skipped' | 'waiting' | 'not-started';
  readonly expected: number;
  readonly ran: number;
  readonly checks: readonly {
    readonly id: string;
    readonly status: 'passed' | 'failed' | 'waiting';
    readonly required: boolean;
  }[];
  readonly findings: readonly DecidedFinding[];
}

/**
 * The whole input of a decision: digests and outcomes only, no content, so that it has no retention
 * (resolutions, Retention). Stored as `decision-input.json`.
 */
export interface DecisionInput {
  readonly schema: 'urn:writ:decision-input:v1';
  readonly runId: string;
  readonly specId: string;
  readonly specDigest: string;
  readonly baseCommit: string | null;
  readonly patchDigest: string;
  readonly candidateTree: string;
  readonly gateReportDigest: string;
  readonly patchFindings: readonly DecidedFinding[];
  readonly stages: readonly DecidedStage[];
  readonly wallClock: { readonly limitSeconds: number; readonly exceeded: boolean };
  /** Refusals of decision guards, in the order of the plugins. */
  readonly refusals: readonly DecidedFinding[];
}

/** What `decide` answers; its canonical form is the decision record that replay must reproduce byte for byte. */
export interface DecisionRecord {
  readonly schema: 'urn:writ:decision:v1';
  readonly runId: string;
  readonly type: 'commit' | 'abandon';
  readonly rationale: string;
  /** Stable reasons, most decisive first; empty for a commit. */
  readonly reasons: readonly string[];
  readonly inputDigest: string;
}
