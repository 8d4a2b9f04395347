import type { ApprovalVerdict } from './approval.ts';
import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { JudgeReach } from './judge-reach.ts';
import type { PatchFile, PatchSet } from './patch-set.ts';
import type { Scope } from './scope.ts';
import type { ArtifactRecord, CheckRecord, StageName } from './stage.ts';

/** When a rule is asked: over the patch before it is Proposed, or when a stage has run. */
export type RulePoint = 'patch' | StageName | 'every-stage';

/** Content of a changed file that a rule asked for with `reads`; a side is absent where the file is. */
export interface FileSides {
  readonly base?: Uint8Array;
  readonly candidate?: Uint8Array;
}

/** What a policy engine is asked with: `[policy.<name>]`, its files as the policy commit has them. */
export interface PolicyText {
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
}

/** Everything a rule may know. Plain data: it crosses a thread or a process boundary. */
export interface RuleInput {
  readonly spec: EffectiveIntentSpec;
  /** Words after the rule's name when a `policy` check asks (`require-approvers --min 2`); else empty. */
  readonly args: readonly string[];
  readonly patch: PatchSet;
  /** The effective write scope, computed by core with the names of the base tree at hand. */
  readonly scope: Scope;
  /** By candidate path (base path for a deleted file). */
  readonly files: Readonly<Record<string, FileSides>>;
  /** Present at a stage: what its checks did, and which artifacts exist so far in the whole run. */
  readonly stage?: { readonly name: StageName; readonly checks: readonly CheckRecord[] };
  readonly artifacts: readonly ArtifactRecord[];
  /** By SHA-256: content of `artifacts`, for rules with `readsArtifacts`. */
  readonly artifactBytes?: Readonly<Record<string, Uint8Array>>;
  /** By artifact name: why the engine could not make one that it knows how to make. */
  readonly unmade?: Readonly<Record<string, string>>;
  /** Signed approvals received so far, judged; absent where nobody has been asked yet. */
  readonly approvals?: readonly ApprovalVerdict[];
  /**
   * What a trial of the seal ran into, nothing where it would verify; absent where no check asks or the contract wants
   * no provenance.
   */
  readonly rehearsal?: { readonly problems: readonly string[] };
  /** `[approvals.groups]` of `.writ/config.toml` at the policy commit: principals by group. */
  readonly approvalGroups?: Readonly<Record<string, readonly string[]>>;
  /**
   * By path at base: files with inline suppressions as the policy commit has them, for rules with `readsStanding`;
   * absent where base and policy commit are one.
   */
  readonly standing?: Readonly<Record<string, Uint8Array>>;
  /** What checks execute to judge, for rules with `readsJudge`; absent where no contract says what is checked. */
  readonly judge?: JudgeReach;
  /** Present where a policy engine is asked. */
  readonly policy?: PolicyText;
  /** `[rules.<id>]` of `.writ/config.toml` at the policy commit. */
  readonly options: Readonly<Record<string, unknown>>;
}

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
