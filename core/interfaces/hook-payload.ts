import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec, ReplanTrigger } from './intentspec.gen.ts';
import type { PatchSet } from './patch-set.ts';
import type { ContextItemKind, FrameKind, PrivacyPolicy, Redaction, TrustTier } from './privacy.ts';
import type { DecisionType } from './run-view.ts';
import type { Scope } from './scope.ts';
import type { Attestation } from './sealing.ts';
import type { StageName, StageRecord } from './stage.ts';

/** `engine.opened`, `engine.closed`. */
export interface EngineFacts {
  /** Names, in the order of set-up. */
  readonly plugins: readonly string[];
}

/** `spec.check`: the spec with its defaults applied. */
export interface SpecToCheck {
  readonly spec: EffectiveIntentSpec;
}

/** `plan.review`: what will be done, before any of it is. */
export interface PlanToReview {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly scope: Scope;
  readonly tasks: readonly { readonly title: string; readonly steps: readonly string[] }[];
  /** Stages that list checks, in the order they run. */
  readonly stages: readonly StageName[];
}

/**
 * `frame.admit`, `frame.tag`, `frame.redact`: one item of a context snapshot, or one frame of the context pipeline, on
 * its way in.
 */
export interface ContextEntry {
  readonly runId: string;
  readonly form: 'item' | 'frame';
  readonly kind: ContextItemKind | FrameKind;
  /** Path, path and lines, or URL of an item; what a frame is called. */
  readonly name: string;
  readonly trustTier: TrustTier;
  /** A tap adds its own; those that the engine set stay as they are. */
  readonly tags: Readonly<Record<string, string>>;
  /** `frame.redact` answers others, except for a File item: repository objects are never redacted, they are refused. */
  readonly bytes: Uint8Array;
  /** `beyond` is what the context may not hold. */
  readonly policy: PrivacyPolicy;
}

/**
 * `tool.guard`: what is about to be done in the name of a run. ACL and scope have already agreed; at `tool.started` the
 * guards have, too.
 */
export interface ToolRequest {
  readonly runId: string;
  readonly tool: string;
  readonly action: string;
  /** The check that makes the call, if one does. */
  readonly checkId?: string;
  /** Shell text as in the spec, for `workspace.command`. */
  readonly command?: string;
  /** Repository-relative, for tools that read or write files. */
  readonly paths?: readonly string[];
  /** Query or address, for `web.search`; without what may not be kept. */
  readonly query?: string;
}

/** `tool.settled`: the same request and how it ended. */
export interface ToolSettled {
  readonly request: ToolRequest;
  readonly outcome: 'done' | 'denied' | 'failed';
  /** Why it was denied. */
  readonly refusal?: Finding;
  readonly exitCode?: number;
  /** Accesses that the sandbox denied to a failed command, as far as its output and the egress proxy show. */
  readonly heldBack?: string;
  readonly durationMs: number;
}

/** `patch.judge`: a candidate before it becomes Proposed. */
export interface PatchToJudge {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
}

/** `stage.judge`: a stage after its checks have run, before its status becomes passed. */
export interface StageToJudge {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly stage: StageRecord;
}

/** `stage.settled`. */
export interface StageSettled {
  readonly runId: string;
  readonly stage: StageRecord;
}

/** `replan.sense`: an evaluated attempt, before writ decides whether the Plan still fits. */
export interface AttemptToSense extends DecisionToGuard {
  /** One attempt at a Task, or the merged candidate. */
  readonly subject: 'attempt' | 'candidate';
  /** What the engine itself sensed. */
  readonly fired: readonly ReplanTrigger[];
}

/** `decision.guard`: everything a decision rests on, before it is made. */
export interface DecisionToGuard {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly patch: PatchSet;
  readonly findings: readonly Finding[];
  readonly stages: readonly StageRecord[];
}

/** `decision.made`. */
export interface DecisionMade {
  readonly runId: string;
  readonly type: DecisionType;
  readonly rationale: string;
  readonly commitSha?: string;
  /** Where the run goes on once a person has acted: what it waits for, and how many have to approve. */
  readonly waiting?: { readonly for: 'approval' | 'budget'; readonly needed: number };
}

/** `statement.fill`: a sealed commit while writ builds its provenance. */
export interface StatementToFill {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly commitSha: string;
}

/** `attest.settled`. */
export interface AttestSettled {
  readonly runId: string;
  readonly commitSha: string;
  readonly attestation: Attestation;
}

/** `artifact.redact`: an artifact's bytes on their way to the store. */
export interface ArtifactBytes {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** `remove` is what may not be written. */
  readonly policy: PrivacyPolicy;
  /** Redactions made so far; a tap adds its own. */
  readonly redactions: number;
  /** What they were; a tap adds its own. */
  readonly receipt: readonly Redaction[];
  /** Content that no tap could look into, by its format. */
  readonly unscanned?: string;
}
