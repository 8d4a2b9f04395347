import type { Finding } from './finding.ts';
import type { EffectiveCheck } from './intentspec.gen.ts';
import type { CheckNetwork } from './network-use.ts';
import type { RuleInput } from './rule-input.ts';
import type { SandboxResult } from './sandbox.ts';
import type { ScanOutcome, ScanRules } from './scanner.ts';
import type { CheckCarry, CheckTime, TestCounts, ToolUse, WrittenOutside } from './stage.ts';

/** A file that a check left in `$REPORTS_DIR`, read after the sandbox ended; symlinks are never followed. */
export interface ReportFile {
  /** Path relative to the reports directory. */
  readonly name: string;
  readonly bytes: Buffer;
  /** It was last written before the check's command began. */
  readonly isStale?: true;
}

/** What a check kind may use. Everything is per check. */
export interface CheckContext {
  readonly check: EffectiveCheck;
  /** Where its report comes from, as the config names it: `stdout`, or a glob over names in `$REPORTS_DIR`. */
  readonly report?: string;
  /** Runs the check's command under ACL, sandbox and environment policy; a denied command is a value. */
  runCommand(): Promise<{
    readonly denied?: Finding;
    readonly result?: SandboxResult;
    readonly reports: readonly ReportFile[];
    /** Names in `$REPORTS_DIR` that are no regular files and were not opened. */
    readonly unread?: readonly string[];
    /** Why directories of `[workspace] share` are not in its workspace. */
    readonly skipped?: readonly string[];
  }>;
  /** Asks a registered rule; `undefined` when the id names none. */
  askRule(id: string, args: readonly string[]): Promise<readonly Finding[] | undefined>;
  readonly ruleInput: Omit<RuleInput, 'args' | 'files' | 'options'>;
  /** Present for a check that is a scanner (`[scanner.NAME]`). */
  readonly scan?: ScanContext;
}

/** What a check that is a scanner may use beside its own command, which runs in the candidate. */
export interface ScanContext {
  readonly rules: ScanRules;
  /** When the run started, epoch milliseconds: decides whether an `ignore` still holds. */
  readonly nowMs: number;
  /** The report of an earlier run at the same base with the same program and rules. */
  keptAtBase(): Promise<Uint8Array | undefined>;
  /** Runs the same command at the base; `undefined` if there is no base commit. */
  runAtBase(): ReturnType<CheckContext['runCommand']> | undefined;
  keepAtBase(report: Uint8Array): Promise<void>;
  /** Content of a file of the scanned tree; `undefined` if it is absent, or no file. */
  read(side: 'base' | 'candidate', path: string): Promise<Uint8Array | undefined>;
}

/** Tests as a report names them. */
export interface ExecutedTests {
  readonly counts: TestCounts;
  readonly names: ReadonlySet<string>;
  /** Of these, the ones that it says were skipped, the first 20. */
  readonly skipped: readonly string[];
  /** Files in which no test ran, the first 20. */
  readonly emptyFiles?: readonly string[];
}

/** What a check kind concluded. A failure is a finding of severity `error`. */
export interface CheckOutcome {
  readonly findings: readonly Finding[];
  readonly result?: SandboxResult;
  readonly reports: readonly ReportFile[];
  readonly tests?: TestCounts;
  /** What its report says, for comparing; not recorded. */
  readonly executed?: ExecutedTests;
  /** What its command had of the network; the engine adds it. */
  readonly network?: CheckNetwork;
  /** What its command used; the engine adds it. */
  readonly tools?: readonly ToolUse[];
  /** What was handed to and on by it; the engine adds it. */
  readonly carried?: CheckCarry;
  /** What it wrote outside the contract's scope; the engine adds it. */
  readonly wroteOutside?: WrittenOutside;
  /** When it ran; the engine adds it. */
  readonly time?: CheckTime;
  /** Of a scanner. */
  readonly scan?: ScanOutcome;
  /** A person has to act before this check can pass. */
  readonly waiting?: boolean;
}

/** One check kind (slot `check`): `command`, `testSuite`, `policy`. */
export interface CheckRunner {
  run(context: CheckContext): Promise<CheckOutcome>;
}
