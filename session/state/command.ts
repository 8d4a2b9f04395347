/** The commands, reports and effects of the session's state machine. */
import { compact } from '../../api/envelope.ts';
import { WritError } from '../../core/base/errors.ts';
import type { Attachment, Given } from '../thread/attachments.ts';
import type { Fact, FactOf, Lease, Proof, Speaker, TurnEnd } from './fact.ts';
import type { GivenAnswer, NewQuestion } from './interaction.ts';
import type { CommandsAsk, Deed, TurnWords } from './slash.ts';
import { isBusy, type SessionState } from './state.ts';
import type { HunkReview } from './work.ts';

/** What clients want; each but `attach` and `reclaim` is a write and needs a proof. */
export type ClientCommand =
  | {
      readonly type: 'attach';
      readonly clientId: string;
      readonly kind: string;
      /** SHA-256 of the token that the client gets where it is given a new lease. */
      readonly tokenDigest: string;
      readonly controlToken: 'missing' | 'invalid' | 'valid';
    }
  | { readonly type: 'detach'; readonly clientId: string; readonly proof: Proof }
  | {
      readonly type: 'submit';
      readonly text: string;
      readonly commandId?: string;
      /** What came with it; the channel stores it before the command is decided. */
      readonly given?: readonly Given[];
      readonly attachments?: readonly Attachment[];
      readonly proof: Proof;
    }
  | { readonly type: 'respond'; readonly id: string; readonly given: GivenAnswer; readonly proof: Proof }
  | { readonly type: 'cancel'; readonly proof: Proof }
  /** Another agent answers a question of an automation. */
  | { readonly type: 'dispatch'; readonly agent: string; readonly prompt: string; readonly proof: Proof }
  /** A goal is pursued from here on, or goes on. */
  | {
      readonly type: 'goal-start';
      readonly objective: string;
      /** What it is held to beside the objective. */
      readonly criteria: readonly string[];
      readonly proof: Proof;
    }
  | { readonly type: 'goal-cancel'; readonly reason?: string; readonly proof: Proof }
  /** A person's review of one hunk of a patchset. */
  | ({ readonly type: 'review'; readonly proof: Proof } & HunkReview)
  /** Revokes a grant. */
  | { readonly type: 'revoke'; readonly grant: string; readonly proof: Proof }
  /** The local screen reclaims control. */
  | { readonly type: 'reclaim' };

export type CommandOf<T extends ClientCommand['type']> = Extract<ClientCommand, { readonly type: T }>;

/** Reports of effects. Reports of an ended turn are ignored. */
export type Report = { readonly turn: string } & (
  | Extract<
      Fact,
      {
        readonly type:
          | 'exchanged'
          | 'instructed'
          | 'noted'
          | 'tool'
          | 'announced'
          | 'drafted'
          | 'planned'
          | 'stepped'
          | 'tasked'
          | 'patched'
          | 'reviews-told'
          | 'printing'
          | 'ran'
          | 'runs-told'
          | 'run-began'
          | 'review-began'
          | 'review-anew'
          | 'review-ended'
          | 'undo-began'
          | 'goal-moved';
      }
    >
  | Omit<FactOf<'used'>, 'turn'>
  | FactOf<'replying'>
  | Omit<FactOf<'replied'>, 'before'>
  | ({ readonly type: 'ask' } & NewQuestion)
  /** The tools of the turn have stopped: those that still run become unknown. */
  | { readonly type: 'tools-stopped' }
  | { readonly type: 'end'; readonly end: TurnEnd; readonly reason?: string }
);

/** A report without its turn. */
export type TurnReport = WithoutTurn<Report>;

type WithoutTurn<R> = R extends unknown ? Omit<R, 'turn'> : never;

export type Command =
  | ClientCommand
  | Report
  /** Begins a turn for a question of an MCP client. */
  | { readonly type: 'visit' }
  /** Begins a turn about a last run whose end the conversation does not know; nothing happens if there is none. */
  | { readonly type: 'catch-up' }
  /** `dueMs`: the monotonic clock has reached this. */
  | { readonly type: 'tick'; readonly dueMs?: number };

/** What is to be done because of a command, after its facts are on disk. */
export type Want =
  | {
      readonly type: 'turn';
      readonly turn: string;
      readonly spoken:
        | TurnWords
        | Deed
        /** A new thread with what was said before this entry. */
        | { readonly kind: 'fork'; readonly before: string }
        /** What became of the last run: it is recorded, or asked about. */
        | { readonly kind: 'catch-up' }
        /** The last run goes on, with another limit of repairs if one is given. */
        | { readonly kind: 'go-on'; readonly limit?: number }
        | { readonly kind: 'goal' | 'review' | 'undo'; readonly text: string };
      /** Who answers, where it is another one than the session's own. */
      readonly agent?: string;
      readonly by: Speaker;
    }
  | {
      readonly type: 'answer';
      readonly subject: string;
      readonly option: string;
      readonly given: GivenAnswer;
      /** Of a plan. */
      readonly networkAccess?: 'allow' | 'deny';
      /** Of `/plan continue N`. */
      readonly repairLimit?: number;
      readonly by: Speaker;
    }
  | { readonly type: 'note'; readonly subject: string; readonly note: string; readonly by: Speaker }
  /** A person looks at commands in the background of the turn, or stops one. */
  | ({ readonly type: 'commands'; readonly turn: string } & CommandsAsk)
  | { readonly type: 'abort'; readonly turn: string };

/** Inputs of a decision besides state and command. */
export interface Moment {
  readonly nowMs: number;
  /** Milliseconds of a clock that never steps. */
  readonly monotonicMs: number;
  /** A new id, other at each call. */
  readonly newId: () => string;
  /** What the work tree is like now; absent where the command does not depend on it. */
  readonly workspace?: string;
}

/** The result of a command before it is applied. */
export interface Decided {
  readonly facts: readonly Fact[];
  readonly wants: readonly Want[];
  /** The lease of the sender after `attach`. */
  readonly lease?: Lease;
  /** The turn that the command began. */
  readonly turn?: string;
}

export const nothingDecided: Decided = { facts: [], wants: [] };

/** CONTROLLER_CONFLICT with its reason. */
export function conflict(message: string, detail: Readonly<Record<string, unknown>>): WritError {
  return new WritError('CONTROLLER_CONFLICT', { message, detail });
}

/** CONTROLLER_CONFLICT: one turn after the other. */
export function requireIdle(state: SessionState): void {
  if (isBusy(state)) throw conflict('the session is busy', { reason: 'session_busy', status: state.status });
}

interface Message {
  readonly text: string;
  readonly commandId: string | undefined;
}

/** A message as it is kept. */
export function saidFact(
  { text, commandId, attachments }: Message & { readonly attachments?: readonly Attachment[] | undefined },
  by: Speaker,
  id: string,
): FactOf<'said'> {
  return { type: 'said', id, text, by, ...compact({ commandId, attachments }) };
}

/** Whether the command id was used before with the same text. COMMAND_PAYLOAD_CONFLICT if the text differs. */
export function isRepeated(
  { commands }: Pick<SessionState, 'commands'>,
  { text, commandId }: Message,
): boolean {
  const before = commandId === undefined ? undefined : commands.get(commandId);
  if (before === undefined || before === text) return before !== undefined;
  throw new WritError('COMMAND_PAYLOAD_CONFLICT', { detail: { command_id: commandId } });
}
