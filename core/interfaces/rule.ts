import type { ExecutedRule } from './executed-rule.ts';
import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { PatchFile } from './patch-set.ts';
import type { RuleInput } from './rule-input.ts';
import type { StageName } from './stage.ts';

export type { FileSides, PolicyText, RuleInput } from './rule-input.ts';

/** When a rule is asked: over the patch before it is Proposed, or when a stage has run. */
export type RulePoint = 'patch' | StageName | 'every-stage';

/**
 * A pure function: same input, same findings; no clock, no disk, no network. An empty array is a pass. Asked by a
 * `policy` check, a `note` whose `detail.waiting` is `true` says that a person has to act first: the check waits,
 * unless an `error` fails it.
 */
export type RuleFunction = (input: RuleInput) => readonly Finding[] | Promise<readonly Finding[]>;

/**
 * Asked where an anchor stands in a file's part of the diff. True: `judge` has to see the file; it is asked no more
 * about it.
 */
export type AnchorTest = (offset: number) => boolean;

/**
 * What a rule's module may export as `candidates` beside `judge`, where `judge` looks at each changed file by itself:
 * how to tell quickly about which files it could say anything. A scan of a large diff asks it about those alone. Says
 * yes too often, never too rarely.
 */
export interface CandidateSearch {
  /** Texts of at least four latin1 characters. Those of all rules are looked for in one pass. */
  readonly anchors: readonly string[];
  /** Asked first about each file: true or false where its bytes need not be read; else what is told of each anchor. */
  begin(input: RuleInput, file: PatchFile): boolean | AnchorTest;
}

/** What a rule's module may export. */
export interface RuleModule {
  readonly judge?: RuleFunction;
  readonly candidates?: CandidateSearch;
  /**
   * For a rule with `linear`: whether `judge` takes linear time for this input. Takes linear time itself, for every
   * input. Absent: it always does.
   */
  readonly isLinear?: (input: RuleInput) => boolean;
}

/** What a report says of a rule, or of one row of a rule that is made of many, beside its findings (SARIF). */
export interface RuleText {
  /** One sentence. */
  readonly about: string;
  /** What to do about it; absent: `about` says it. */
  readonly help?: string;
  /** What its findings are unless they say otherwise; absent: `error`. */
  readonly level?: 'error' | 'warning';
  /** GitHub code scanning sorts by it: 0.0 to 10.0. Absent for what is no security matter. */
  readonly securitySeverity?: string;
  readonly tags: readonly string[];
}

/** A described rule, by the id that its findings bear. */
export interface DescribedRule extends RuleText {
  readonly id: string;
}

/** How a rule takes part in a scan of a change without a contract. */
export interface RuleInScan {
  /** It compares both sides of whole files: where only a diff is at hand it is not asked. */
  readonly needsBothSides?: boolean;
  /** Only a contract asks for it, or says what it needs: a scan asks it where it is named. Absent: always. */
  readonly asked?: 'where-named';
  /** Only a contract says whether what it finds is wrong: an error is a warning, unless the rule is named. */
  readonly severity?: 'warning';
}

/**
 * One reason a gate can fail: data plus one function `judge` exported by a module. The data is all that anybody knows
 * of it.
 */
export interface Rule {
  /** Kebab-case, unique; the first word of a `policy` check. */
  readonly id: string;
  readonly point: RulePoint;
  /** Module that exports `judge: RuleFunction`. */
  readonly module: URL;
  /** Glob patterns of changed files whose content at base and candidate the rule needs. */
  readonly reads?: readonly string[];
  /**
   * Where a changed file matches `reads`, the rule needs the unchanged ones too; both sides are then the same bytes.
   */
  readonly readsUnchanged?: boolean;
  /** The rule needs the content of the artifacts that it is told of. */
  readonly readsArtifacts?: boolean;
  /** The rule needs to know what the contract's checks execute. */
  readonly readsJudge?: boolean;
  /** The rule lets inline suppressions count, which stand at the policy commit. */
  readonly readsStanding?: boolean;
  /**
   * At point `patch`: the rule judges the change as a whole (that a fix brings a test), so it is not asked about the
   * part of one Task.
   */
  readonly judgesWhole?: boolean;
  /**
   * At a stage: the rule also says something of a change alone, without stage and artifacts (`writ scan`, a producer of
   * an artifact).
   */
  readonly judgesChange?: boolean;
  /**
   * The artifact that it judges: a `policy` check that asks it has this one made in its own stage, where the contract
   * declares it.
   */
  readonly judgesArtifact?: string;
  /** What it finds is a secret: nothing beside it is shown. */
  readonly findsSecrets?: boolean;
  readonly scan?: RuleInScan;
  /** Of a built-in rule that also compares what was executed. */
  readonly executed?: () => Promise<ExecutedRule>;
  /** Absent: it is described by its id. */
  readonly text?: RuleText;
  /** Of a rule that is made of many: the ids that `detail.row` of its findings names. */
  readonly rows?: () => Promise<readonly DescribedRule[]>;
  /**
   * For built-in rules that take linear time by construction: a small input is evaluated in the main thread, without a
   * deadline (`docs/decisions/0020-rules-in-the-main-thread.md`). Absent: a thread of the pool evaluates every input.
   */
  readonly linear?: true;
  /** Deadline; default 60. A rule past it has refused. */
  readonly timeoutSeconds?: number;
  /** Asked only where this contract wants it; absent means always. Pure. */
  readonly appliesTo?: (spec: EffectiveIntentSpec) => boolean;
  /**
   * Set by core for a rule of somebody else's plugin: asks it in a sandboxed process, where others are asked in a
   * thread. Never rejects for the rule's sake.
   */
  readonly outside?: (input: RuleInput, signal?: AbortSignal) => Promise<readonly Finding[]>;
}
