/* The interface of rules: those over a patch, and those that need executed checks. */
import type { CheckOutcome } from './check.ts';
import type { Finding } from './finding.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchSet } from './patch-set.ts';
import type { RuleInput } from './rule-input.ts';
import type { CheckRecord, StageName } from './stage.ts';

export type { FileSides, PolicyText, RuleInput } from './rule-input.ts';

/** When a rule runs: on the patch before it becomes Proposed, or after a stage has run. */
export type RulePoint = 'patch' | StageName | 'every-stage';

/**
 * A pure function: same input, same findings; no clock, no disk, no network. An empty array is a pass. In a `policy`
 * check, a `note` with `detail.waiting` `true` states that a person must act first. The check then waits, unless an
 * `error` fails it.
 */
export type RuleFunction = (input: RuleInput) => readonly Finding[] | Promise<readonly Finding[]>;

/** What a rule's module may export. */
export interface RuleModule {
  readonly judge?: RuleFunction;
  /**
   * For a rule with `linear`: whether `judge` runs in linear time for this input. This test must itself be linear for
   * every input. Absent: always linear.
   */
  readonly isLinear?: (input: RuleInput) => boolean;
}

/** Description of a rule for a report (SARIF), or of one row of a rule that has many. */
export interface RuleText {
  /** One sentence. */
  readonly about: string;
  /** How to fix it. Absent: `about` covers it. */
  readonly help?: string;
  /** Default level of its findings. Absent: `error`. */
  readonly level?: 'error' | 'warning';
  /** GitHub code scanning sorts by it: 0.0 to 10.0. Absent if it is not a security issue. */
  readonly securitySeverity?: string;
  readonly tags: readonly string[];
}

/** A described rule, by the id that its findings bear. */
export interface DescribedRule extends RuleText {
  readonly id: string;
}

/** A rule in plain words, for `writ rules` and `writ explain`. Commands and settings are in backquotes. */
export interface RuleGuide {
  /** What it refuses, as a sentence. */
  readonly refuses: string;
  readonly example: string;
  readonly mend: string;
  /** How a repository allows it; absent if it cannot be allowed. */
  readonly allow?: string;
}

/** Behaviour of a rule in a scan of a change without a spec. */
export interface RuleInScan {
  /** It compares whole files at base and candidate. If only a diff is available, it does not run. */
  readonly needsBothSides?: boolean;
  /** It depends on a spec, so a scan runs it only if it is named. Absent: always. */
  readonly asked?: 'where-named';
  /** Only a spec decides whether its findings are faults: an error becomes a warning, unless the rule is named. */
  readonly severity?: 'warning';
}

/**
 * One reason a gate can fail: data plus one function `judge` that a module exports. Core knows a rule only by this
 * data.
 */
export interface Rule {
  /** Kebab-case, unique; the first word of a `policy` check. */
  readonly id: string;
  readonly point: RulePoint;
  readonly guide?: RuleGuide;
  /** Module that exports `judge: RuleFunction`. */
  readonly module: URL;
  /** Glob patterns of changed files for which the rule needs the content at base and candidate. */
  readonly reads?: readonly string[];
  /**
   * Where a changed file matches `reads`, the rule needs the unchanged ones too; both sides are then the same bytes.
   */
  readonly readsUnchanged?: boolean;
  /** The rule needs the content of the artifacts in its input. */
  readonly readsArtifacts?: boolean;
  /** The rule needs the verification inputs: what the spec's checks execute. */
  readonly readsJudge?: boolean;
  /** The rule accepts inline suppressions that already exist at the policy commit. */
  readonly readsStanding?: boolean;
  /**
   * At point `patch`: the rule evaluates the change as a whole, for example that a fix adds a test. It does not run
   * on the part of one Task.
   */
  readonly judgesWhole?: boolean;
  /**
   * At a stage: the rule can also evaluate a change alone, without stage and artifacts (`writ scan`, a producer of an
   * artifact).
   */
  readonly judgesChange?: boolean;
  /**
   * The artifact that it evaluates. A `policy` check with this rule has the artifact produced in its own stage, if
   * the spec declares it.
   */
  readonly judgesArtifact?: string;
  /**
   * A baseline can name its errors. `about` returns what a finding is about, or `undefined` if it is not the kind that
   * a baseline names. `isOfLines`: it is about the lines of a file, and changes with them.
   */
  readonly baseline?: {
    about(detail: Readonly<Record<string, unknown>>): string | undefined;
    readonly isOfLines?: boolean;
  };
  /** Its findings are secrets, so their context is not shown. */
  readonly findsSecrets?: boolean;
  /** `.writ/waivers.toml` may tolerate its findings, as those of plugins. */
  readonly waivable?: true;
  readonly scan?: RuleInScan;
  /** Present for a built-in rule that also compares executed tests. */
  readonly executed?: () => Promise<ExecutedRule>;
  /** Absent: its id is its description. */
  readonly text?: RuleText;
  /** For a rule with many rows: the ids in `detail.row` of its findings. */
  readonly rows?: () => Promise<readonly DescribedRule[]>;
  /**
   * For built-in rules with linear time by construction: a small input is evaluated in the main thread, without a
   * deadline (`docs/decisions/0020-rules-in-the-main-thread.md`). Absent: a thread of the pool evaluates every input.
   */
  readonly linear?: true;
  /** Deadline; default 60. A rule that exceeds it has refused. */
  readonly timeoutSeconds?: number;
  /** Whether the rule applies to this spec. Absent: always. Pure. */
  readonly appliesTo?: (spec: EffectiveIntentSpec, at?: RulePoint) => boolean;
  /**
   * Set by core for a rule of a third-party plugin: evaluates it in a sandboxed process instead of a thread. Never
   * rejects because of a fault of the rule.
   */
  readonly outside?: (input: RuleInput, signal?: AbortSignal) => Promise<readonly Finding[]>;
}

export type Side = 'base' | 'candidate';

/** A tree in which a check runs again: one side, with some paths of the patch taken from the other side. */
export interface Rerun {
  readonly tree: Side;
  /** Files as `ExecutedCheck.rewritten` has them at its base. */
  readonly asBefore?: readonly string[];
  /** Test files from the other side. A file that does not exist there is removed. */
  readonly tests?: readonly string[];
  /** Data that tests read, from the other side. */
  readonly verificationInputs?: readonly string[];
  /** Files that are removed from the tree: the result without a file shows whether the check runs it. */
  readonly without?: readonly string[];
}

/** Tests that failed and that earlier runs of a session's goal made pass by rewriting them. */
export interface RewrittenTests {
  /** The commit before the first rewriting. */
  readonly base: string;
  readonly tests: readonly string[];
  /** The rewritten files of tests and data, as far as they exist at `base`. */
  readonly paths: readonly string[];
}

/** Result of a further run. `failedBy`: it did not end as the check expects, or ran into a limit of time or memory. */
export type Executed = Pick<CheckOutcome, 'executed'> & { readonly failedBy?: 'outcome' | 'limit' };

/** A check that passed, and the only access of a rule to git and to further runs. */
export interface ExecutedCheck {
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly stage: StageName;
  readonly check: EffectiveCheck;
  /** Result of the check in the candidate. */
  readonly ran: CheckOutcome;
  /** Changed paths that the check read at the base. Absent if it was not observed. */
  readonly reads?: readonly string[];
  /** True if the change is for a goal of a session. The session then prompts its user about rewritten failing tests. */
  readonly isForGoal: boolean;
  /** Tests of this check that earlier runs of the goal rewrote. */
  readonly rewritten?: RewrittenTests;
  /**
   * Runs the check in another tree, once for each tree. The result at the base may come from an earlier run. A run in
   * a mixed tree is recorded as evidence. `undefined` if the patch has no base, or if the time of the run is used up.
   */
  rerun(where: Rerun): Promise<Executed | undefined>;
  /** Changed paths of the base that are tests by the command of a check, or by a link, and not by their names. */
  testsByUse(): Promise<readonly string[]>;
  /** Whether the command of the check leads to tests, as the base has it. */
  leadsToTests(): Promise<boolean>;
  /** Texts of existing files of one side; empty if they are too large together. */
  readTexts(side: Side, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Evaluates the same rule against the patch. */
  ask(args: readonly string[]): Promise<readonly Finding[]>;
}

/** A rule's result for one check. */
export interface ExecutedAnswer {
  readonly findings?: readonly Finding[];
  /** JSON that the rule receives after the stage, perhaps in another process. It is redacted. */
  readonly note?: unknown;
}

/** Input of a rule for a stage after its checks have ended. */
interface ExecutedStage extends Pick<ExecutedCheck, 'spec' | 'patch' | 'ask'> {
  readonly stage: StageName;
  readonly checks: readonly CheckRecord[];
  /** The rule's own notes, by the id of the check. */
  readonly notes: ReadonlyMap<string, unknown>;
}

/** The part of a rule that compares executed tests. Runs in the main thread for every check that passed. */
export interface ExecutedRule {
  judgeCheck(check: ExecutedCheck): Promise<ExecutedAnswer>;
  judgeStage?(stage: ExecutedStage): Promise<readonly Finding[]>;
}

/**
 * An external policy engine (slot `policy`). A `policy` check runs it if its first word is the engine's name, for
 * example `cedar release`. Its config is `[policy.release]` at the policy commit. Like a rule, it is data plus a
 * module. The module exports `judge`, reads `input.policy`, and returns findings under the engine's name.
 */
export interface PolicyEngine {
  /** Module that exports `judge: RuleFunction`; the worker pool runs it. */
  readonly module: URL;
  /** Deadline; default 60. An engine past it has refused. */
  readonly timeoutSeconds?: number;
}
