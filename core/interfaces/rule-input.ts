/* The input of a rule. */
import type { ApprovalVerdict } from './approval.ts';
import type { EffectiveIntentSpec } from './intentspec.gen.ts';
import type { JudgeReach, PatchSet, Scope } from './patch-set.ts';
import type { ArtifactRecord, CheckRecord, StageName } from './stage.ts';

/** Content of a changed file that a rule requested with `reads`. A side is absent if the file does not exist there. */
export interface FileSides {
  readonly base?: Uint8Array;
  readonly candidate?: Uint8Array;
}

/** Input of a policy engine: `[policy.<name>]`, with its files at the policy commit. */
export interface PolicyText {
  readonly name: string;
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
}

/** Everything a rule may know. Plain data: it crosses a thread or a process boundary. */
export interface RuleInput {
  readonly spec: EffectiveIntentSpec;
  /** The words after the rule's name in a `policy` check (`require-approvers --min 2`); else empty. */
  readonly args: readonly string[];
  readonly patch: PatchSet;
  /** The effective write scope. Core computes it from the names in the base tree. */
  readonly scope: Scope;
  /** By candidate path (base path for a deleted file). */
  readonly files: Readonly<Record<string, FileSides>>;
  /** Present at a stage: what its checks did, and which artifacts exist so far in the whole run. */
  readonly stage?: { readonly name: StageName; readonly checks: readonly CheckRecord[] };
  readonly artifacts: readonly ArtifactRecord[];
  /** Content of `artifacts` by SHA-256, for rules with `readsArtifacts`. */
  readonly artifactBytes?: Readonly<Record<string, Uint8Array>>;
  /** Why the engine could not make an artifact that it can produce, by artifact name. */
  readonly unmade?: Readonly<Record<string, string>>;
  /** Signed approvals received so far, evaluated. Absent if no approval has been requested yet. */
  readonly approvals?: readonly ApprovalVerdict[];
  /**
   * Problems that a trial seal found; empty if it would verify. Absent if no check requests it or the spec wants no
   * provenance.
   */
  readonly rehearsal?: { readonly problems: readonly string[] };
  /** `[approvals.groups]` of `.writ/config.toml` at the policy commit: principals by group. */
  readonly approvalGroups?: Readonly<Record<string, readonly string[]>>;
  /**
   * Files with inline suppressions at the policy commit, by path at base, for rules with `readsStanding`. Absent if
   * base and policy commit are the same.
   */
  readonly standing?: Readonly<Record<string, Uint8Array>>;
  /** The verification inputs, for rules with `readsJudge`. Absent if no spec defines the checks. */
  readonly judge?: JudgeReach;
  /** Present for a policy engine. */
  readonly policy?: PolicyText;
  /** `[rules.<id>]` of `.writ/config.toml` at the policy commit. */
  readonly options: Readonly<Record<string, unknown>>;
}
