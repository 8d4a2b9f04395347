/** The state of a session and its bounds. */
import type { ModelMessage } from '../../core/interfaces/model.ts';
import type { InstructionFile, Lease, SessionGround, SessionSkill, ToolStatus } from './fact.ts';
import type { SessionGoal } from './goal.ts';
import type { Interaction } from './interaction.ts';
import type { SessionSettings } from './settings.ts';
import type { SessionUsage } from './usage.ts';
import type {
  GateResult,
  HeldReview,
  HeldRun,
  HunkReview,
  RunOutcome,
  SessionDraft,
  SessionPatchset,
  SessionPlan,
  SessionTask,
  UndoneRun,
} from './work.ts';

export type SessionStatus =
  | 'idle'
  | 'thinking'
  | 'executing_tool'
  | 'awaiting_interaction'
  | 'completed'
  | 'error';

/** One entry of the transcript. */
export interface TranscriptEntry {
  readonly id: string;
  readonly kind: 'user_message' | 'assistant_message' | 'tool_call' | 'plan_summary' | 'diff' | 'info_note';
  readonly title?: string;
  readonly content?: string;
  readonly status?: string;
  readonly streaming: boolean;
  /** Key of the task of a reply or tool call, if the plan has several. */
  readonly task?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ToolCall {
  readonly id: string;
  readonly toolName: string;
  /** Key of the task that makes it, if the plan has several. */
  readonly task?: string;
  readonly status: ToolStatus;
  readonly summary?: string;
  readonly details?: string;
  /** What a command of a person printed; of the last ones. */
  readonly output?: string;
  readonly updatedAtMs: number;
}

/** A user's command that has ended, as text for a model. */
export interface RanCommand {
  readonly id: string;
  readonly text: string;
  readonly isTold: boolean;
}

export type SaidReview = HunkReview & { readonly id: string; readonly told?: 'talk' | 'plan' };

/** Everything that a session is, as its facts add up to it. */
export interface SessionState {
  readonly ground: SessionGround;
  readonly settings: SessionSettings;
  readonly lease: Lease | undefined;
  /** The last controller. */
  readonly holder: string;
  readonly status: SessionStatus;
  /** The turn that runs. */
  readonly turn: string | undefined;
  readonly isCancelling: boolean;
  /** The interaction answered with `modify`. The next message becomes its note. */
  readonly noteFor: string | undefined;
  /** The last of them; what came before is in the thread. */
  readonly transcript: readonly TranscriptEntry[];
  /** How many of the transcript came before. */
  readonly earlier: number;
  readonly toolCalls: readonly ToolCall[];
  readonly interactions: readonly Interaction[];
  /** The spec that the person and the model discuss. */
  readonly draft: SessionDraft | undefined;
  readonly plans: readonly SessionPlan[];
  readonly tasks: readonly SessionTask[];
  readonly patchsets: readonly SessionPatchset[];
  /** Stages of gates of the run that began last, as far as they were settled. */
  readonly gates: readonly GateResult[];
  /** What the last run came to. */
  readonly outcome: RunOutcome | undefined;
  readonly goal: SessionGoal | undefined;
  /** The last review of each hunk. */
  readonly reviews: readonly SaidReview[];
  /** The last run with a change that waits for a person's review. */
  readonly heldRun: HeldRun | undefined;
  /** What waits for that person. */
  readonly held: HeldReview | undefined;
  readonly undos: readonly UndoneRun[];
  /** The last commands of the user. */
  readonly ran: readonly RanCommand[];
  /** The instruction files that a model got with the last question. */
  readonly instructions: readonly InstructionFile[];
  /** The skills that it was offered. */
  readonly skills: readonly SessionSkill[];
  /** The run that the turn works on. */
  readonly run: string | undefined;
  /** The run of the thread that began last, over or not. */
  readonly lastRun: string | undefined;
  /** Usage of models, without the limit. */
  readonly usage: Omit<SessionUsage, 'limitUsd'>;
  /** Limit in USD that a user set; absent: not set in this thread. */
  readonly limit: { readonly usd?: number } | undefined;
  /** Earlier messages that a model gets, oldest first. */
  readonly dialogue: readonly ModelMessage[];
  /** By `commandId`: the text that was sent under it. */
  readonly commands: ReadonlyMap<string, string>;
  readonly updatedAtMs: number;
}

/** Of a thread, however long: what is shown and compared is bounded. */
export const kept = {
  commands: 1000,
  transcript: 500,
  toolCalls: 200,
  /** Of tool calls with what they printed. */
  output: 10,
  /** Commands of a person, for the next question to a model. */
  ran: 5,
  interactions: 100,
  plans: 20,
  tasks: 200,
  patchsets: 20,
  reviews: 500,
  undos: 100,
} as const;

/** The controller where the process runs. */
export const localHolder = 'local';

/** Names a client for comparison: the same one may come back. */
export function holderOf({ kind, clientId }: Pick<Lease, 'kind' | 'clientId'>): string {
  return `${kind} ${clientId}`;
}

export function isBusy({ turn, status }: Pick<SessionState, 'turn' | 'status'>): boolean {
  return turn !== undefined || status === 'awaiting_interaction';
}

export function pendingOf({ interactions }: Pick<SessionState, 'interactions'>): readonly Interaction[] {
  return interactions.filter(({ status }) => status === 'pending');
}
