import type { Fact, Speaker, TurnEnd } from './fact.ts';
import type { GivenAnswer, Interaction, InteractionKind } from './interaction.ts';
import type { Proof } from './lease.ts';
import type { Deed, TurnWords } from './slash/spoken.ts';
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
  /** What a person says of one hunk of a patchset. */
  | ({ readonly type: 'review'; readonly proof: Proof } & HunkReview)
  /** What was pre-approved under that id is asked about again. */
  | { readonly type: 'revoke'; readonly grant: string; readonly proof: Proof }
  /** The local screen takes the session back. */
  | { readonly type: 'reclaim' };

/** What effects report; of a turn that is over, nothing counts any more. */
export type Report = { readonly turn: string } & (
  | Extract<
      Fact,
      {
        readonly type:
          | 'exchanged'
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
  | Omit<Extract<Fact, { readonly type: 'used' }>, 'turn'>
  | Extract<Fact, { readonly type: 'replying' }>
  | { readonly type: 'replied'; readonly id: string; readonly text: string }
  | {
      readonly type: 'ask';
      readonly subject: string;
      readonly kind: InteractionKind;
      readonly title?: string;
      readonly description?: string;
      readonly prompt?: string;
      readonly metadata: Readonly<Record<string, unknown>>;
    }
  /** Whoever used tools has stopped: what is not over yet is unknown. */
  | { readonly type: 'tools-stopped' }
  | { readonly type: 'end'; readonly end: TurnEnd; readonly reason?: string }
);

/** A report as whoever works in a turn makes it. */
export type Told = WithoutTurn<Report>;

type WithoutTurn<R> = R extends unknown ? Omit<R, 'turn'> : never;

export type Command =
  | ClientCommand
  | Report
  /** A client of another kind needs a turn in which it can ask. */
  | { readonly type: 'visit' }
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
      readonly metadata: Interaction['metadata'];
      readonly by: Speaker;
    }
  | { readonly type: 'note'; readonly subject: string; readonly note: string; readonly by: Speaker }
  | { readonly type: 'abort'; readonly turn: string };
