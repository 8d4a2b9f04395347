import type { Finding } from './finding.ts';

/** The four gate stages in the order they run (document 1, States and transitions). */
export const stageNames = ['fast', 'integration', 'security', 'release'] as const;
export type StageName = (typeof stageNames)[number];

export type CheckKind = 'command' | 'testSuite' | 'policy';

/** Counts of a parsed test report. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A stored artifact: digest of the bytes after redaction (`5-cli.md`, `artifacts[]`). */
export interface ArtifactRecord {
  readonly name: string;
  readonly stage: string;
  /** The check that produced it; absent for what the engine makes. */
  readonly checkId?: string;
  /** Path inside `refs/ai/content/<run>`. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** RFC 3339. */
  readonly expiresAt?: string;
  readonly redactions?: number;
}

/** One use of a tool in the name of a check: asked of ACL and guards first, then done. */
export interface ToolUse {
  readonly tool: string;
  readonly action: string;
  readonly command: string;
  readonly outcome: 'done' | 'denied' | 'failed';
  /** Rule that denied it. */
  readonly refusal?: string;
  readonly exitCode?: number;
  readonly durationMs: number;
  /** RFC 3339. */
  readonly startedAt: string;
}

/** What one check did. `failed` on a check that is not required blocks nothing. */
export interface CheckRecord {
  readonly id: string;
  readonly kind: CheckKind;
  readonly stage: StageName;
  readonly status: 'passed' | 'failed' | 'waiting';
  readonly required: boolean;
  readonly command: string;
  readonly expectedExitCode: number;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly tests?: TestCounts;
  /** In the order of use; absent where the check used none. */
  readonly tools?: readonly ToolUse[];
  readonly artifacts: readonly ArtifactRecord[];
  readonly findings: readonly Finding[];
}

/** What one stage did. `skipped`: the contract lists no check for it (expected 0), or it never started (expected more, ran 0). */
export interface StageRecord {
  readonly stage: StageName;
  readonly status: 'passed' | 'failed' | 'skipped' | 'waiting';
  readonly expected: number;
  readonly ran: number;
  readonly checks: readonly CheckRecord[];
  readonly findings: readonly Finding[];
}
