/** The facts of a session, and who causes them. */

import type { ModelMessage } from '../../core/interfaces/model.ts';
import type { Attachment } from '../thread/attachments.ts';
import type { DialogueCut } from './dialogue.ts';
import type { GoalAmounts, GoalChange, SessionGoal } from './goal.ts';
import type { Interaction, InteractionAnswer } from './interaction.ts';
import type { SessionSettings, StartedSettings } from './settings.ts';
import type { UsedOnce } from './usage.ts';
import type {
  GateResult,
  HeldEnd,
  HeldReview,
  HeldRun,
  HunkReview,
  RunOutcome,
  SessionDraft,
  SessionPatchset,
  SessionPlan,
  SessionTask,
  StepStatus,
  UndoneRun,
} from './work.ts';

/** The controller while there is no lease. */
type LocalController = 'tui' | 'cli' | 'none';

/** The other thread of a fork. */
export interface ForkLink {
  readonly way: 'from' | 'to';
  readonly thread: string;
  /** Message in the older thread: the fork has what came before it. */
  readonly entry: string;
}

/** A file that instructs models, as a model got it. */
export interface InstructionFile {
  readonly path: string;
  readonly sha256: string;
}

/** A skill that a model is offered. */
export interface SessionSkill extends InstructionFile {
  readonly name: string;
  /** The model read it. */
  readonly isRead?: true;
}

/** Fixed when a session is opened. */
export interface SessionGround extends StartedSettings {
  readonly sessionId: string;
  readonly threadId: string;
  readonly workingDir: string;
  readonly provider: {
    readonly provider: string;
    readonly model?: string;
    readonly mode?: string;
    readonly managed: boolean;
  };
  /** Address of the provider from `--api-base`; also used when the thread is resumed. */
  readonly apiBase?: string;
  readonly capabilities: Readonly<Record<CapabilityName, boolean>>;
  readonly local: LocalController;
  /** Clients of these kinds may attach. */
  readonly attachable: readonly Lease['kind'][];
  /** What one yes of a person lets a goal use up. */
  readonly goalBudget: GoalAmounts;
  /** Cost limit of the thread in USD, unless a person sets another. Absent: no limit. */
  readonly limitUsd?: number;
  /** Whether the price of the model is known; absent: unknown until the first call. */
  readonly isPriced?: boolean;
}

type CapabilityName =
  | 'messageInput'
  | 'streamingText'
  | 'planUpdates'
  | 'toolCalls'
  | 'patchsets'
  | 'interactiveApprovals'
  | 'structuredQuestions'
  | 'providerSessionResume';

/** The author of a message or answer. */
export interface Speaker {
  readonly kind: 'browser' | 'automation' | 'tui' | 'cli';
  /** Absent for the local one. */
  readonly clientId?: string;
}

export type TurnEnd = 'done' | 'failed' | 'cancelled' | 'decided';
export type ToolStatus = 'preview' | 'running' | 'completed' | 'failed' | 'unknown';

/** Key of the task that it is for, if the plan has several. */
interface OfTask {
  readonly task?: string;
}

/** Something that has happened. Times are milliseconds since the epoch. */
export type Fact =
  | { readonly type: 'opened'; readonly ground: SessionGround }
  /** Another process goes on with it. */
  | { readonly type: 'resumed'; readonly ground: SessionGround }
  | { readonly type: 'attached'; readonly lease: Lease }
  | ({ readonly type: 'renewed' } & Pick<Lease, 'expiresAtMs' | 'endsAtMs'>)
  | { readonly type: 'released'; readonly why: 'detached' | 'expired' | 'reclaimed' }
  | {
      readonly type: 'said';
      readonly id: string;
      readonly text: string;
      readonly by: Speaker;
      readonly commandId?: string;
      readonly attachments?: readonly Attachment[];
      /** Where it is the note that `modify` waited for: of which interaction. */
      readonly noteOf?: string;
    }
  | { readonly type: 'turn-began'; readonly turn: string }
  /** `isAnew`: the text so far is of a reply that broke, and this one begins in its place. */
  | ({
      readonly type: 'replying';
      readonly id: string;
      readonly text: string;
      readonly isAnew?: true;
    } & OfTask)
  | ({
      readonly type: 'replied';
      readonly id: string;
      readonly text: string;
      /** The entry that this one precedes, if that began later. Absent: at the end. */
      readonly before?: string;
    } & OfTask)
  | ({
      readonly type: 'tool';
      readonly id: string;
      readonly toolName: string;
      readonly status: ToolStatus;
      readonly summary?: string;
      /** What was done and what came of it, a fact a line. */
      readonly details?: string;
      /** What a command of a person printed. */
      readonly output?: string;
    } & OfTask)
  /** A model has begun to write a call. Without a name: the announced call is complete or was dropped. */
  | ({ readonly type: 'announced'; readonly id: string; readonly toolName?: string } & OfTask)
  /** The end of what a command of a person has printed so far, under the id of its tool call. */
  | { readonly type: 'printing'; readonly id: string; readonly text: string }
  /** A user's command has ended; `text` is for the next model call. */
  | { readonly type: 'ran'; readonly id: string; readonly text: string }
  /** A model has got what is kept under these ids. */
  | { readonly type: 'runs-told'; readonly ids: readonly string[] }
  | { readonly type: 'asked'; readonly interaction: Interaction }
  | {
      readonly type: 'answered';
      readonly id: string;
      readonly answer: InteractionAnswer;
      readonly by: Speaker;
    }
  /** It stays pending: the network was switched, or a second word is needed. */
  | {
      readonly type: 'amended';
      readonly id: string;
      readonly metadata: Interaction['metadata'];
    }
  | {
      readonly type: 'withdrawn';
      readonly id: string;
      readonly why: 'cancelled' | 'taken-over' | 'turn-ended';
    }
  /** A message of the dialogue with the model, as the model gets it back. */
  | { readonly type: 'exchanged'; readonly message: ModelMessage }
  /** From this point, a model gets less of the dialogue, or none of it. */
  | { readonly type: 'talk-cut'; readonly how: DialogueCut }
  /** Something that people have to know, in words. */
  | {
      readonly type: 'noted';
      readonly id: string;
      readonly text: string;
      readonly title?: string;
      readonly gate?: GateResult;
      readonly outcome?: RunOutcome;
      readonly fork?: ForkLink;
    }
  | { readonly type: 'drafted'; readonly draft: SessionDraft }
  /** A plan, or the same one further on. */
  | { readonly type: 'planned'; readonly plan: Omit<SessionPlan, 'updatedAtMs'> }
  | {
      readonly type: 'stepped';
      readonly plan: string;
      /** Absent: every step. */
      readonly step?: string;
      readonly status: StepStatus;
    }
  | { readonly type: 'tasked'; readonly task: Omit<SessionTask, 'updatedAtMs'> }
  /** `isWhole`: all of what a run changes, and not what one call does. */
  | {
      readonly type: 'patched';
      readonly patchset: Omit<SessionPatchset, 'updatedAtMs'>;
      readonly isWhole?: true;
    }
  /** A question to a model is over, its reply whole or broken off: what it came to. */
  | ({
      readonly type: 'used';
      readonly turn: string;
      /** The plan and the key of the task. */
      readonly plan?: string;
      readonly task?: string;
    } & UsedOnce)
  /** The instruction files and skills that a model gets with the questions of this thread, other than before. */
  | {
      readonly type: 'instructed';
      readonly files: readonly InstructionFile[];
      readonly skills?: readonly SessionSkill[];
    }
  | { readonly type: 'goal-began'; readonly goal: SessionGoal }
  | { readonly type: 'goal-moved'; readonly goal: string; readonly change: GoalChange }
  /** A person's complete review of one hunk. It replaces earlier reviews of the hunk. */
  | { readonly type: 'reviewed'; readonly id: string; readonly review: HunkReview; readonly by: Speaker }
  /** A model has received the reviews with these ids. */
  | { readonly type: 'reviews-told'; readonly ids: readonly string[]; readonly hearing?: 'talk' | 'plan' }
  /** A person set where the session stops, in USD; absent: nowhere. */
  | { readonly type: 'limited'; readonly limitUsd?: number }
  /** The engine works on a run of this thread from here on, for as long as its turn lasts. */
  | {
      readonly type: 'run-began';
      readonly runId: string;
      /** Where a person reviews its change before its branch moves. */
      readonly held?: HeldRun;
    }
  /** Its change is made, and waits for a person. */
  | { readonly type: 'review-began'; readonly review: HeldReview }
  /** The change without the rejected hunks runs again. */
  | { readonly type: 'review-anew'; readonly runId: string; readonly rejected: readonly string[] }
  | { readonly type: 'review-ended'; readonly end: HeldEnd }
  /** Another run undoes a run. */
  | ({ readonly type: 'undo-began' } & UndoneRun)
  /** From here on turns go by these. */
  | { readonly type: 'set'; readonly settings: SessionSettings }
  | { readonly type: 'cancel-asked' }
  | { readonly type: 'turn-ended'; readonly turn: string; readonly end: TurnEnd; readonly reason?: string };

export type FactOf<T extends Fact['type']> = Extract<Fact, { readonly type: T }>;

/** A fact and when it was. */
export type Happened = Fact & { readonly atMs: number };

/**
 * Facts that hold for one process alone: a lease, half a reply, half a call, half of what a command prints. Every
 * other one is in the journal of the thread.
 */
export const fleeting: ReadonlySet<Fact['type']> = new Set([
  'attached',
  'renewed',
  'released',
  'replying',
  'announced',
  'printing',
]);

/** Lifetime of a lease without a write. */
export const leaseMs = 120_000;

/** The right to write, as one client holds it. */
export interface Lease {
  readonly kind: 'browser' | 'automation';
  readonly clientId: string;
  /** SHA-256 of its token; the token itself is in no state. */
  readonly tokenDigest: string;
  /** For people and clients: by the wall clock when it was granted or renewed. */
  readonly expiresAtMs: number;
  /** End time in milliseconds of this process's monotonic clock. Changes of the wall clock do not affect it. */
  readonly endsAtMs: number;
}

/** When a lease that is granted or renewed now ends. */
export function leaseEnd({
  nowMs,
  monotonicMs,
}: {
  readonly nowMs: number;
  readonly monotonicMs: number;
}): Pick<Lease, 'expiresAtMs' | 'endsAtMs'> {
  return { expiresAtMs: nowMs + leaseMs, endsAtMs: monotonicMs + leaseMs };
}

export function isLeaseKind(kind: string): kind is Lease['kind'] {
  return kind === 'browser' || kind === 'automation';
}

/** What a request brings along to show that it may write. */
export type Proof =
  /** The screen or the standard input of the process itself. */
  | { readonly from: 'local' }
  | {
      readonly from: 'client';
      /** Of the lease token; absent where none was sent. */
      readonly tokenDigest?: string;
      /** Of the process's own token. */
      readonly controlToken: 'missing' | 'invalid' | 'valid';
    };
