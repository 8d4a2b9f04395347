/* The interfaces of check kinds and of stage checks. */
import type { Finding } from './finding.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchFile, PatchSet } from './patch-set.ts';
import type { RuleInput } from './rule-input.ts';
import type { SandboxResult } from './sandbox.ts';
import type { CheckNetwork, ScanOutcome, ScanRules } from './scanner.ts';
import type {
  ArtifactRecord,
  CheckCarry,
  CheckRecord,
  CheckTime,
  RanOn,
  StageName,
  TestCounts,
  ToolUse,
  WrittenOutside,
} from './stage.ts';

/** A file that a check left in `$REPORTS_DIR`, read after the sandbox ended; symlinks are never followed. */
export interface ReportFile {
  /** Path relative to the reports directory. */
  readonly name: string;
  readonly bytes: Buffer;
  /** The file was last written before the command of the check began. */
  readonly isStale?: true;
}

/** What a check kind may use. Everything is per check. */
export interface CheckContext {
  readonly check: EffectiveCheck;
  /** Source of its report, from the configuration: `stdout`, or a glob over names in `$REPORTS_DIR`. */
  readonly report?: string;
  /** Runs the check's command under ACL, sandbox and environment policy; a denied command is a value. */
  runCommand(): Promise<{
    readonly denied?: Finding;
    readonly result?: SandboxResult;
    readonly reports: readonly ReportFile[];
    /** Names in `$REPORTS_DIR` that are not regular files and were not opened. */
    readonly unread?: readonly string[];
    /** Why directories of `[workspace] share` are not in its workspace. */
    readonly skipped?: readonly string[];
  }>;
  /** Evaluates a registered rule. Returns `undefined` if no rule has this id. */
  askRule(id: string, args: readonly string[]): Promise<readonly Finding[] | undefined>;
  readonly ruleInput: Omit<RuleInput, 'args' | 'files' | 'options'>;
  /** Present for a check that is a scanner (`[scanner.NAME]`). */
  readonly scan?: ScanContext;
}

/** Services for a check that is a scanner, in addition to its own command, which runs in the candidate. */
export interface ScanContext {
  readonly rules: ScanRules;
  /** Start of the run, epoch milliseconds: decides whether an `ignore` is still in effect. */
  readonly nowMs: number;
  /** The report of an earlier run at the same base with the same program and rules. */
  keptAtBase(): Promise<Uint8Array | undefined>;
  /** Runs the same command at the base. Returns `undefined` if there is no base commit. */
  runAtBase(): ReturnType<CheckContext['runCommand']> | undefined;
  keepAtBase(report: Uint8Array): Promise<void>;
  /** Content of a file of the scanned tree; `undefined` if it is absent, or no file. */
  read(side: 'base' | 'candidate', path: string): Promise<Uint8Array | undefined>;
}

export interface ExecutedTests {
  readonly counts: TestCounts;
  readonly names: ReadonlySet<string>;
  /** The first 20 of these tests that the report lists as skipped. */
  readonly skipped: readonly string[];
  /** Files in which no test ran, the first 20. */
  readonly emptyFiles?: readonly string[];
  /** Read from what the runner prints for people: names may be missing, or all of them. */
  readonly isPrinted?: true;
}

/** Result of a check kind. A failure is a finding of severity `error`. */
export interface CheckOutcome {
  readonly findings: readonly Finding[];
  readonly result?: SandboxResult;
  readonly reports: readonly ReportFile[];
  readonly tests?: TestCounts;
  /** Tests from its report, for comparison; not recorded. */
  readonly executed?: ExecutedTests;
  /** Its use of the network. Set by the engine. */
  readonly network?: CheckNetwork;
  /** Tools that its command used. Set by the engine. */
  readonly tools?: readonly ToolUse[];
  /** Paths that it received from earlier checks and passed on to later ones. Set by the engine. */
  readonly carried?: CheckCarry;
  /** Files that it wrote outside the spec's scope. Set by the engine. */
  readonly wroteOutside?: WrittenOutside;
  readonly ranOn?: RanOn;
  /** When it ran. Set by the engine. */
  readonly time?: CheckTime;
  /** Present for a scanner. */
  readonly scan?: ScanOutcome;
  /** A person has to act before this check can pass. */
  readonly waiting?: boolean;
}

/** One check kind (slot `check`): `command`, `testSuite`, `policy`. */
export interface CheckRunner {
  run(context: CheckContext): Promise<CheckOutcome>;
}

/**
 * The state of a gate after its own checks and rules have run. Plain data, redacted like the stored record of the
 * run. It has no times, so equal states give equal input.
 */
export interface StageCheckInput {
  readonly runId: string;
  readonly stage: StageName;
  /** The spec with its defaults applied. */
  readonly spec: EffectiveIntentSpec;
  readonly patch: ChangeFacts;
  /** Checks of the earlier stages and of this one, in the order of the spec. */
  readonly checks: readonly CheckFacts[];
  /** Findings on the patch, on checks and on stages so far, errors first; at most 2000. */
  readonly findings: readonly StandingFinding[];
  /** Number of findings beyond that limit. */
  readonly omittedFindings: number;
  /** Every artifact of the run so far. */
  readonly artifacts: readonly ArtifactFacts[];
}

export interface ChangeFacts extends Pick<PatchSet, 'digest' | 'baseTree' | 'candidateTree'> {
  /** Absent on an unborn HEAD. */
  readonly baseCommit?: string;
  readonly files: readonly Omit<PatchFile, 'start' | 'end'>[];
  /** The whole diff as text, for a check that declares `readsDiff`. Invalid UTF-8 is U+FFFD. */
  readonly diff?: string;
}

export type CheckFacts = Pick<
  CheckRecord,
  | 'id'
  | 'kind'
  | 'stage'
  | 'status'
  | 'required'
  | 'fromPolicy'
  | 'tolerated'
  | 'command'
  | 'expectedExitCode'
  | 'exitCode'
  | 'timedOut'
> & { readonly tests?: Pick<TestCounts, 'passed' | 'failed' | 'skipped'> };

/**
 * A finding and where it was made; it is about the patch if it names neither. Its message is shortened and its detail
 * omitted.
 */
export type StandingFinding = Omit<Finding, 'detail'> & {
  readonly stage?: StageName;
  readonly check?: string;
};

export type ArtifactFacts = Pick<
  ArtifactRecord,
  'name' | 'stage' | 'checkId' | 'sha256' | 'sizeBytes' | 'contentType'
>;

/** A further check of a gate, from a plugin. It can only add findings; it removes none. */
export interface StageCheck {
  /** Kebab-case; the rule of its findings. */
  readonly name: string;
  /** Name of its plugin. */
  readonly plugin: string;
  readonly stages: readonly StageName[];
  readonly readsDiff: boolean;
  /** If there is no result, rejects with PLUGIN_PROCESS_FAULT or the signal's reason. */
  judge(input: StageCheckInput, signal: AbortSignal): Promise<readonly Finding[]>;
}
