/* The interface of rules. */
import type { ExecutedRule } from './executed-rule.ts';
import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchFile } from './patch-set.ts';
import type { RuleInput } from './rule-input.ts';
import type { StageName } from './stage.ts';

export type { FileSides, PolicyText, RuleInput } from './rule-input.ts';

/** When a rule runs: on the patch before it becomes Proposed, or after a stage has run. */
export type RulePoint = 'patch' | StageName | 'every-stage';

/**
 * A pure function: same input, same findings; no clock, no disk, no network. An empty array is a pass. In a `policy`
 * check, a `note` with `detail.waiting` `true` states that a person must act first. The check then waits, unless an
 * `error` fails it.
 */
export type RuleFunction = (input: RuleInput) => readonly Finding[] | Promise<readonly Finding[]>;

/**
 * Called with each anchor's offset in a file's part of the diff. If it returns true, `judge` must evaluate the file,
 * and it is not called again for that file.
 */
export type AnchorTest = (offset: number) => boolean;

/**
 * Optional export `candidates` of a rule's module, for a `judge` that evaluates each changed file separately. It
 * selects quickly the files that could have findings. A scan of a large diff evaluates only those. False positives
 * are allowed, false negatives are not.
 */
export interface CandidateSearch {
  /** Texts of at least four latin1 characters. One pass searches for those of all rules. */
  readonly anchors: readonly string[];
  /**
   * Called first for each file. Returns a boolean if the file's bytes need not be read; else a function that tests
   * each anchor.
   */
  begin(input: RuleInput, file: PatchFile): boolean | AnchorTest;
}

/** What a rule's module may export. */
export interface RuleModule {
  readonly judge?: RuleFunction;
  readonly candidates?: CandidateSearch;
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
  /** Its findings are secrets, so their context is not shown. */
  readonly findsSecrets?: boolean;
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
  readonly appliesTo?: (spec: EffectiveIntentSpec) => boolean;
  /**
   * Set by core for a rule of a third-party plugin: evaluates it in a sandboxed process instead of a thread. Never
   * rejects because of a fault of the rule.
   */
  readonly outside?: (input: RuleInput, signal?: AbortSignal) => Promise<readonly Finding[]>;
}
