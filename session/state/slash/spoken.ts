import type { DialogueCut } from '../cut-dialogue.ts';
import type { SettingChange } from '../settings/session-settings.ts';

/** What a message is to a session: words for a model, or a command of its own (document 2, What the service does). */
export type Spoken =
  | TurnWords
  | AtOnce
  | Deed
  | { readonly kind: 'goal'; readonly words: GoalWords }
  /** Asks again what becomes of the change that is held. */
  | { readonly kind: 'review'; readonly text: string }
  /** Takes back the run that `text` names, or the last one; of `RUN/TASK` and `/TASK` that Task alone. */
  | { readonly kind: 'undo'; readonly text: string }
  /** Goes on with a plan that failed; with another limit of repairs where one is named. */
  | { readonly kind: 'plan-continue'; readonly limit?: number };

/** What begins a turn. */
export type TurnWords =
  | { readonly kind: 'plain'; readonly text: string }
  /** A question that is answered and changes nothing. */
  | { readonly kind: 'ask'; readonly text: string };

/** What is done in a turn of its own, with no model asked: see `beginDeed`. */
export type Deed =
  /** A command of whoever says it, on a copy of the work tree. */
  | { readonly kind: 'shell'; readonly command: string }
  /** The seal of a commit or run is verified; empty: of the last one of the thread. */
  | { readonly kind: 'verify'; readonly target: string };

/** What a message says of a goal (document 2, `--goal`). */
export type GoalWords =
  | { readonly kind: 'start'; readonly objective: string }
  /** Goes on with the one that is blocked. */
  | { readonly kind: 'go-on' }
  | { readonly kind: 'status' }
  | { readonly kind: 'cancel'; readonly reason?: string };

/** What is done there and then, whether a turn runs or not: see `actAtOnce`. */
export type AtOnce =
  | { readonly kind: 'set'; readonly change: SettingChange }
  /** What a model is sent of the conversation. */
  | { readonly kind: 'cut'; readonly how: DialogueCut }
  /** Where the session stops, in USD; absent: nowhere. */
  | { readonly kind: 'budget'; readonly limitUsd?: number };
