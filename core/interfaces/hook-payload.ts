/* The payloads of hooks, and the interface of the person who consents to the tool requests among them. */
import type { Finding } from './finding.ts';
import type { EffectiveIntentSpec, ReplanTrigger } from './intentspec.gen.ts';
import type { PatchSet, Scope } from './patch-set.ts';
import type { ContextItemKind, FrameKind, PrivacyPolicy, Redaction, TrustTier } from './privacy.ts';
import type { DecisionType } from './run-view.ts';
import type { Attestation } from './sealing.ts';
import type { StageName, StageRecord } from './stage.ts';
import type { PersonQuestion } from './worker.ts';

/** `engine.opened`, `engine.closed`. */
export interface EngineFacts {
  /** Names, in the order of set-up. */
  readonly plugins: readonly string[];
}

/** `spec.check`: the spec with its defaults applied. */
export interface SpecToCheck {
  readonly spec: EffectiveIntentSpec;
}

/** `plan.review`: the plan before any work. */
export interface PlanToReview {
  readonly runId: string;
  readonly spec: EffectiveIntentSpec;
  readonly scope: Scope;
  readonly tasks: readonly { readonly title: string; readonly steps: readonly string[] }[];
  /** Stages that list checks, in the order they run. */
  readonly stages: readonly StageName[];
}

/** `frame.admit`, `frame.tag`, `frame.redact`: an item of a context snapshot or a frame, before it is added. */
export interface ContextEntry {
  readonly runId: string;
  readonly form: 'item' | 'frame';
  readonly kind: ContextItemKind | FrameKind;
  /** Path, path and lines, or URL of an item; name of a frame. */
  readonly name: string;
  readonly trustTier: TrustTier;
  /** A tap adds its own tags; the tags of the engine do not change. */
  readonly tags: Readonly<Record<string, string>>;
  /** `frame.redact` may return other bytes, except for a File item: repository objects are refused, never redacted. */
  readonly bytes: Uint8Array;
  /** `beyond` lists the classes that the context may not contain. */
  readonly policy: PrivacyPolicy;
}

/** `tool.guard`: a tool call that is about to run. ACL and scope allow it; at `tool.started` the guards do, too. */
export interface ToolRequest {
  readonly runId: string;
  readonly tool: string;
  readonly action: string;
  /** The check that makes the call, if any. */
  readonly checkId?: string;
  /** Key of the Task that it is for, if the plan has several. */
  readonly task?: string;
  /** Shell text as in the spec, for `workspace.command`. */
  readonly command?: string;
  /** Why a check runs elsewhere: at the base, to see what it reads, with inputs of the base. Absent: on the change. */
  readonly purpose?: 'base' | 'footprint' | 'second';
  /** Repository-relative, for tools that read or write files. */
  readonly paths?: readonly string[];
  /** Redacted: query or address for `web.search`; arguments of an MCP tool as JSON, shortened. */
  readonly query?: string;
  readonly arguments?: string;
}

/** `tool.settled`: the same request and how it ended. */
export interface ToolSettled {
  readonly request: ToolRequest;
  readonly outcome: 'done' | 'denied' | 'failed';
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
export interface StageToJudge extends PatchToJudge {
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
  /** Triggers that the engine itself detected. */
  readonly fired: readonly ReplanTrigger[];
}

/** `decision.guard`: the input of a decision. */
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
  /** Present if the run continues after a person acts: what it waits for, and how many people must approve. */
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

/** `artifact.redact`: bytes of an artifact before they are stored. */
export interface ArtifactBytes {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** `remove` lists the classes that may not be stored. */
  readonly policy: PrivacyPolicy;
  /** Redactions made so far; a tap adds its own. */
  readonly redactions: number;
  /** Receipt of these redactions; a tap adds its own. */
  readonly receipt: readonly Redaction[];
  /** Format of content that no tap could read. */
  readonly unscanned?: string;
}

/** Content of a file before and after a use; absent if the file does not exist. */
export interface FileChange {
  readonly before?: Uint8Array;
  readonly after?: Uint8Array;
  /** Why neither content can be shown. */
  readonly unseen?: string;
}

/** `undefined`: the use changes no file. */
export type LookAtChange = () => Promise<FileChange | undefined>;

/** The person who controls the session of a run. Waits without a deadline; rejects with the reason of the signal. */
export interface Person {
  /**
   * Returns why the person denies a use that rules, scope and guards allow, or `undefined` to allow it. `change`
   * computes the use's effect on its file, when a person is to see it.
   */
  consent(use: ToolRequest, signal: AbortSignal, change?: LookAtChange): Promise<Finding | undefined>;
  /** The answer is untrusted, like all external text. `undefined` if no one answers. */
  answer(question: PersonQuestion, signal: AbortSignal): Promise<string | undefined>;
}
