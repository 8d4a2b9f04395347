/* The view of a run that reports and plugins receive. */
import type { ApprovalVerdict, OwnedPaths } from './approval.ts';
import type { Finding } from './finding.ts';
import type { ModelWork } from './model-work.ts';
import type { TrustTier } from './privacy.ts';
import type { AttestedPlugin } from './sealing.ts';
import type { ArtifactRecord, StageRecord } from './stage.ts';
import type { WorkCitation } from './worker.ts';

export type DecisionType = 'commit' | 'checkpoint' | 'abandon' | 'retry' | 'rollback';

/**
 * What a run waits for, and the signatures so far. Evaluated when it is shown, never stored: approvals are bound to
 * the record.
 */
export interface WaitsFor {
  readonly for: 'approval' | 'budget';
  /** Minimum number of distinct people. */
  readonly needed: number;
  /** `unjudged` if the policy commit, which names the signers, is not in this clone. */
  readonly people: readonly (Pick<
    ApprovalVerdict,
    'source' | 'decision' | 'principal' | 'keyId' | 'detail'
  > & {
    readonly status: ApprovalVerdict['status'] | 'unjudged';
  })[];
  readonly owners?: readonly OwnedPaths[];
}

/** Everything about one run that people and other tools see, from stored objects only. */
export interface RunView {
  readonly runId: string;
  readonly threadId: string;
  readonly state: 'running' | 'waiting' | 'interrupted' | 'decided';
  /** RFC 3339. */
  readonly startedAt: string;
  readonly finishedAt?: string;
  readonly spec: {
    readonly id: string;
    readonly digest: string;
    readonly summary: string;
    readonly changeType: string;
    readonly riskLevel: string;
    readonly objectives: readonly string[];
  };
  readonly baseCommit?: string;
  /** The commit with the configuration, plugins, policies and signers that apply. */
  readonly policyCommit?: string;
  /** The branch with that commit as its tip; absent if it is the base itself. */
  readonly policyRef?: string;
  /** Present if that is neither the target nor the default branch: the default branch, `null` if unknown. */
  readonly defaultRef?: string | null;
  readonly targetRef: string;
  /** Ref with the content of artifacts, until it expires. */
  readonly contentRef?: string;
  readonly sandbox: string;
  readonly patch?: {
    readonly digest: string;
    readonly candidateTree: string;
    readonly files: readonly {
      readonly path: string;
      readonly changeType: string;
      readonly linesAdded: number;
      readonly linesDeleted: number;
    }[];
  };
  /** Uncommitted changes of the working tree that are part of the change; absent if there are none. */
  readonly localChanges?: {
    readonly paths: readonly string[];
    /** SHA-256 over path, mode and git object of each path. */
    readonly digest: string;
  };
  readonly decision?: {
    readonly type: DecisionType;
    readonly rationale: string;
    readonly commitSha?: string;
    readonly decisionDigest: string;
  };
  /** Uses of tools by workers. */
  readonly toolUses?: {
    readonly count: number;
    readonly tools: readonly (Record<'tool' | 'action', string> &
      Record<'done' | 'denied' | 'failed', number> & { readonly unknown?: number })[];
  };
  /** Retries and replans of this run; absent if there were none. */
  readonly retries?: {
    readonly count: number;
    /** The first 100. */
    readonly first: readonly {
      /** The attempt (`task-1/revision-1/attempt-1`) or merged candidate (`candidate-1`) that failed. */
      readonly failed: string;
      /** Keys of the Tasks that were sent back for it. */
      readonly tasks: readonly string[];
      readonly next: 'retry' | 'replan';
      readonly reason: string;
      /** The first five places that rules refused. */
      readonly places: readonly { readonly rule: string; readonly path: string; readonly line?: number }[];
    }[];
  };
  /** Citations for the model's decisions in the accepted work. Absent if the spec requires none. */
  readonly citations?: {
    /** Minimum of distinct sources for each decision. */
    readonly needed: number;
    readonly count: number;
    /** The first 100. */
    readonly first: readonly (Pick<WorkCitation, 'decision' | 'step'> & {
      readonly attempt?: string;
      readonly sources: readonly {
        readonly source: string;
        readonly counts: boolean;
        readonly trust_tier?: TrustTier;
        readonly why?: string;
      }[];
    })[];
  };
  /** What would have become of a change that is only evaluated: by `--no-seal`, or as the policy only advises. */
  readonly would?: {
    readonly type: 'commit' | 'abandon' | 'wait';
    readonly rationale: string;
    readonly isAdvised: boolean;
  };
  /** What became of `--push` in this process: `refs` of records went along, or the `reason` why nothing went. */
  readonly push?: Readonly<Record<'remote' | 'branch', string>> & {
    readonly status: 'pushed' | 'rejected';
    readonly refs: number;
    readonly reason?: string;
  };
  /** Present if the run waits and its approvals have been evaluated. */
  readonly waiting?: WaitsFor;
  readonly stages: readonly StageRecord[];
  /** Notices for the user that do not change the decision, e.g. that the working tree could not be updated. */
  readonly notices?: readonly string[];
  readonly findings: readonly Finding[];
  readonly artifacts: readonly ArtifactRecord[];
  readonly provenance?: {
    /** `<ref>:<path>` of the sigstore bundle and of the tlog-proof. */
    readonly bundle?: string;
    readonly proof?: string;
    readonly keyId?: string;
    readonly logOrigin?: string;
    readonly logIndex?: number;
    /** As the bundle lists them; absent if there are none. */
    readonly plugins?: readonly AttestedPlugin[];
    /** Calls of models, as the bundle names them. */
    readonly models?: readonly ModelWork[];
  };
}
