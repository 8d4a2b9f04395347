/* Gate stages and the records of their checks. */
import type { Finding } from './finding.ts';
import type { LaidPath } from './patch-set.ts';
import type { Redaction } from './privacy.ts';
import type { CheckNetwork, ScanRecord } from './scanner.ts';

/** The four gate stages in the order they run. */
export const stageNames = ['fast', 'integration', 'security', 'release'] as const;
export type StageName = (typeof stageNames)[number];

/** Whether a failure of the check counts against the change (`required`). Every evaluation of a check calls this. */
export function mustPass({ required }: { readonly required: boolean }): boolean {
  return required;
}

export type CheckKind = 'command' | 'testSuite' | 'policy';

/** A parsed test report. Names are plain text, truncated, without known secrets; times are in milliseconds. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Of those that passed: tests that failed before they passed. Absent where there is none. */
  readonly flaky?: number;
  /** Sum of the tests' own times; absent where the report gives none. */
  readonly durationMs?: number;
  /** The first 100 that failed; absent where none did. */
  readonly failedTests?: readonly { readonly name: string; readonly durationMs?: number }[];
  /** The 20 slowest tests, slowest first. Absent if the report has no times. */
  readonly slowest?: readonly { readonly name: string; readonly durationMs: number }[];
}

/** A stored artifact; the digest is of the bytes after redaction. */
export interface ArtifactRecord {
  readonly name: string;
  readonly stage: string;
  /** The check that produced it; absent for what the engine makes. */
  readonly checkId?: string;
  /** The plugin of others that made it. */
  readonly plugin?: string;
  /** Path inside `refs/ai/content/<run>`. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** RFC 3339. */
  readonly expiresAt?: string;
  /** How many places were redacted; absent where none was. */
  readonly redactions?: number;
  /** What they were: rule, class, count and keyed digests. */
  readonly receipt?: readonly Redaction[];
  /** The format of content that the classifier cannot look into. */
  readonly unscanned?: string;
}

/** Lists the artifacts that third-party plugins made. Omits the engine's own. */
export function madeByPlugins(
  artifacts: readonly Pick<ArtifactRecord, 'sha256' | 'plugin'>[],
): readonly { readonly sha256: string; readonly plugin: string }[] {
  return artifacts.flatMap(({ sha256, plugin }) => (plugin === undefined ? [] : [{ sha256, plugin }]));
}

/** One tool call on behalf of a check. The ACL and the guards authorize it before it runs. */
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

/** Content at a path of `[workspace] carry`. */
export interface CarriedPath {
  readonly path: string;
  /** Of the listing (docs/reference/config.md), the directories above the path included. */
  readonly sha256: string;
  readonly entries: number;
  readonly bytes: number;
}

/** The files passed between this check and the others. Checks share no other files. */
export interface CheckCarry {
  /** What it found in its workspace besides the tree. */
  readonly received: readonly CarriedPath[];
  /** What the checks after it find. */
  readonly handedOn: readonly CarriedPath[];
}

/** Files that a check's command left in its workspace outside the spec's write scope. None of them is kept. */
export interface WrittenOutside {
  readonly count: number;
  /** There may be more: not all could be looked at. */
  readonly atLeast?: true;
  /** The first 20 in their order, cut. `changed`: a file of the tree that is another now, or gone. */
  readonly paths: readonly { readonly path: string; readonly was: 'added' | 'changed' }[];
}

/** A metric of `$REPORTS_DIR/metrics.json`, a value for each round that ran (docs/reference/metrics.md). */
export interface MeasuredMetric {
  readonly name: string;
  readonly unit?: string;
  readonly better: 'lower' | 'higher';
  readonly base: readonly number[];
  readonly candidate: readonly number[];
}

/** Comparison of an integration check with its run at the base (spec: `qualityGates.maxAllowedRegression`). */
export interface CheckBaseline {
  /** Of all runs of the comparison together. */
  readonly network?: CheckNetwork;
  /** Of a check that failed. `unknown`: the base gave no answer that could be compared. */
  readonly failure?: {
    readonly outcome: 'regression' | 'old-failure' | 'unknown';
    readonly reason: string;
    /** Tests that fail in the candidate alone, the first 20. */
    readonly newFailures?: readonly string[];
  };
  /** Of a check that passed and wrote metrics. */
  readonly speed?: {
    readonly measured: readonly MeasuredMetric[];
    /** Metrics that cannot be compared, and why. */
    readonly incomparable: readonly { readonly name: string; readonly reason: string }[];
    readonly onlyInCandidate: readonly string[];
    /** Why there are fewer rounds than requested. */
    readonly unmeasured?: { readonly side: 'base' | 'candidate'; readonly reason: string };
  };
}

/** A second run of a check that passed, on the candidate with some files as the policy commit or the base has them. */
export interface LaidRun {
  readonly status: 'passed' | 'failed';
  /** The replaced files: paths, and for a manifest the parts. A path without content in the source is removed. */
  readonly laid: readonly LaidPath[];
  /** The git tree that it ran in. */
  readonly tree: string;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly tests?: TestCounts;
  /** Paths that it received from earlier second runs and passed on to later ones. */
  readonly carried?: CheckCarry;
  /** SHA-256 of its output, an artifact of the check. */
  readonly log?: string;
  /** Of a run that failed. */
  readonly outputTail?: OutputTail;
}

/** The last lines of an output: at most 200 lines and 16 KiB, redacted, without terminal control sequences. */
export interface OutputTail {
  readonly text: string;
  /** There was more output before `text`. */
  readonly truncated?: true;
}

/** When a check's own command ran; it ended at `startedAt` plus `durationMs`. Without one: when it was evaluated. */
export interface CheckTime {
  /** RFC 3339, by the wall clock. */
  readonly startedAt: string;
  /** By a clock that never steps back. */
  readonly durationMs: number;
  /** Before `startedAt`: making the workspace that it ran in. Absent where it needed none. */
  readonly workspaceMs?: number;
  /** The wall clock was set while it ran: by so much it differs, at its end, from `startedAt` plus `durationMs`. */
  readonly clockStepMs?: number;
}

/**
 * How a check was observed before it evaluated a change that creates paths: by a trace of it at the policy commit, by
 * a run with the new files placed over that commit, or not at all.
 */
export interface CheckObservation {
  readonly by: 'trace' | 'filling' | 'none';
  /** Of a trace: SHA-256 of `footprints/<sha256>.json` in the record of the run. */
  readonly footprint?: string;
  /** The same of steps of `prepare` that the patch concerns. */
  readonly prepare?: readonly string[];
  /** Why there is no trace. */
  readonly reason?: string;
}

type Reused = Readonly<Record<'run' | 'seed', string> & { percent: number }>;
type Dispatched = { readonly fence: number; readonly reused?: Reused };
/** Where a command ran: who signed `workers/<action>.json`, the run that it is `reused` from; or why here. */
export type RanOn =
  | (Readonly<Record<'worker' | 'keyId' | 'action', string>> & Dispatched)
  | { readonly here: string };
type Asked = Readonly<Record<'name' | 'plugin', string> & { status: 'passed' | 'failed'; ranOn?: RanOn }>;

/** Result of one check. `failed` blocks the gate only if the check is required and not tolerated. */
export interface CheckRecord extends CheckTime {
  readonly id: string;
  readonly kind: CheckKind;
  readonly stage: StageName;
  readonly status: 'passed' | 'failed' | 'waiting';
  readonly required: boolean;
  /** Required by the policy commit, independently of the spec. Absent for the spec's own checks. */
  readonly fromPolicy?: true;
  readonly command: string;
  readonly expectedExitCode: number;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly tests?: TestCounts;
  /** In the order of use; absent where the check used none. */
  readonly tools?: readonly ToolUse[];
  /** At the integration stage: the check wrote a `metrics.json` that could be read. */
  readonly hasMetrics?: true;
  /** Absent if it had no network access. */
  readonly network?: CheckNetwork;
  readonly baseline?: CheckBaseline;
  /** Second run with the policy commit's verification inputs, if the patch changes them without a review. */
  readonly atPolicy?: LaidRun;
  /** Second run with the base's test files. Present if the patch removes lines from test files. */
  readonly withBaseTests?: LaidRun;
  /** Where a fix has to show a new test: the base, with changed test files as the candidate has them. */
  readonly onBaseProduct?: LaidRun;
  /** Absent where the patch makes no path exist. */
  readonly observed?: CheckObservation;
  /** Of a scanner (`[scanner.NAME]`). */
  readonly scan?: ScanRecord;
  /** Absent if the config carries no paths or the check ran no command. */
  readonly carried?: CheckCarry;
  /** Absent if it wrote no files outside. Not part of the verdict, because names of temporary files differ. */
  readonly wroteOutside?: WrittenOutside;
  readonly ranOn?: RanOn;
  /** It failed as at the base, and the spec tolerates old failures. */
  readonly tolerated?: true;
  /** For a failed check. Absent if it printed no output, and after the first 64 failed checks of a stage. */
  readonly outputTail?: OutputTail;
  readonly artifacts: readonly ArtifactRecord[];
  readonly findings: readonly Finding[];
}

/** Result of one stage. `skipped`: no check is listed (expected 0), or it never started (expected more, ran 0). */
export interface StageRecord {
  readonly stage: StageName;
  readonly status: 'passed' | 'failed' | 'skipped' | 'waiting';
  readonly expected: number;
  readonly ran: number;
  readonly checks: readonly CheckRecord[];
  readonly findings: readonly Finding[];
  /** Plugin stage checks that ran, whatever their result. Absent if none ran. */
  readonly asked?: readonly Asked[];
}

/** The output that shows why a check failed: that of its failed second run, else its own. */
export function failureOutput({ atPolicy, withBaseTests, outputTail }: CheckRecord): OutputTail | undefined {
  return atPolicy?.outputTail ?? withBaseTests?.outputTail ?? outputTail;
}
