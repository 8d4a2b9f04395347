import type { ModelMessage } from '../../core/interfaces/model.ts';
import type { DialogueCut } from './cut-dialogue.ts';
import type { GoalChange, SessionGoal } from './goal.ts';
import type { GoalAmounts } from './goal-budget.ts';
import type { HeldEnd, HeldReview, HeldRun, UndoneRun } from './held/held-review.ts';
import type { Interaction, InteractionAnswer } from './interaction.ts';
import type { Lease } from './lease.ts';
import type { SessionSettings, StartedSettings } from './settings/session-settings.ts';
import type { UsedOnce } from './usage.ts';
import type {
  GateResult,
  HunkReview,
  RunOutcome,
  SessionDraft,
  SessionPatchset,
  SessionPlan,
  SessionTask,
  StepStatus,
} from './work.ts';

/** Who has the session where nobody holds a lease: its terminal, the client at its standard input, nobody. */
type LocalController = 'tui' | 'cli' | 'none';

/** What is fixed when a session is opened (document 2, Session snapshot). */
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
  /** Where the provider is asked, if a person said so with `--api-base`; a resumed thread is asked there, too. */
  readonly apiBase?: string;
  readonly capabilities: Readonly<Record<CapabilityName, boolean>>;
  readonly local: LocalController;
  /** Clients of these kinds may attach. */
  readonly attachable: readonly Lease['kind'][];
  /** What one yes of a person lets a goal use up. */
  readonly goalBudget: GoalAmounts;
  /** Where it stops, in USD over its thread, unless a person says otherwise; absent: nowhere. */
  readonly limitUsd?: number;
  /** Whether anybody knows what its model costs; absent: that is seen when it is asked. */
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

/** Who said or answered something; it is an author of what comes of it (resolutions, Approvals). */
export interface Speaker {
  readonly kind: 'browser' | 'automation' | 'tui' | 'cli';
  /** Absent for the local one. */
  readonly clientId?: string;
}

export type TurnEnd = 'done' | 'failed' | 'cancelled' | 'decided';
export type ToolStatus = 'preview' | 'running' | 'completed' | 'failed' | 'unknown';

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
      /** Where it is the note that `modify` waited for: of which interaction. */
      readonly noteOf?: string;
    }
  | { readonly type: 'turn-began'; readonly turn: string }
  /** `isAnew`: the text so far is of a reply that broke, and this one begins in its place. */
  | { readonly type: 'replying'; readonly id: string; readonly text: string; readonly isAnew?: true }
  | {
      readonly type: 'replied';
      readonly id: string;
      readonly text: string;
      /** The entry that it stands before: that one came while it was being said. Absent: at the end. */
      readonly before?: string;
    }
  | {
      readonly type: 'tool';
      readonly id: string;
      readonly toolName: string;
      readonly status: ToolStatus;
      readonly summary?: string;
      /** What was done and what came of it, a fact a line. */
      readonly details?: string;
      /** What a command of a person printed. */
      readonly output?: string;
    }
  /** A model has begun to write a call; without a name: what was announced has come whole, or to nothing. */
  | { readonly type: 'announced'; readonly id: string; readonly toolName?: string }
  /** The end of what a command of a person has printed so far, under the id of its tool call. */
  | { readonly type: 'printing'; readonly id: string; readonly text: string }
  /** A command of a person is over, and a model will be told of it in these words. */
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
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: 'withdrawn';
      readonly id: string;
      readonly why: 'cancelled' | 'taken-over' | 'turn-ended';
    }
  /** A message of the dialogue with the model, as the model gets it back. */
  | { readonly type: 'exchanged'; readonly message: ModelMessage }
  /** From here on a model is sent less of the dialogue, or nothing of it. */
  | { readonly type: 'talk-cut'; readonly how: DialogueCut }
  /** Something that people have to know, in words. */
  | {
      readonly type: 'noted';
      readonly id: string;
      readonly text: string;
      readonly title?: string;
      /** What it tells of a stage of gates, as data. */
      readonly gate?: GateResult;
      /** What it tells of a run, as data. */
      readonly outcome?: RunOutcome;
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
      /** The turn that asked it. */
      readonly turn: string;
      /** The plan and the key of the Task that it was asked for. */
      readonly plan?: string;
      readonly task?: string;
    } & UsedOnce)
  | { readonly type: 'goal-began'; readonly goal: SessionGoal }
  | { readonly type: 'goal-moved'; readonly goal: string; readonly change: GoalChange }
  /** What a person says of one hunk, all of it: whatever was said of it before is over. */
  | { readonly type: 'reviewed'; readonly id: string; readonly review: HunkReview; readonly by: Speaker }
  /** A model has got what was said under these ids. */
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
  /** What is left of it without these hunks is judged in a run of its own. */
  | { readonly type: 'review-anew'; readonly runId: string; readonly rejected: readonly string[] }
  | { readonly type: 'review-ended'; readonly end: HeldEnd }
  /** A run is taken back by another one. */
  | ({ readonly type: 'undo-began' } & UndoneRun)
  /** From here on turns go by these. */
  | { readonly type: 'set'; readonly settings: SessionSettings }
  | { readonly type: 'cancel-asked' }
  | { readonly type: 'turn-ended'; readonly turn: string; readonly end: TurnEnd; readonly reason?: string };

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
