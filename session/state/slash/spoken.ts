/** What a message is to a session: words for a model, or a command of its own (document 2, What the service does). */
export type Spoken =
  | TurnWords
  | { readonly kind: 'goal'; readonly words: GoalWords }
  /** Where the session stops, in USD; absent: nowhere. */
  | { readonly kind: 'budget'; readonly limitUsd?: number }
  /** Goes on with a plan that failed; with another limit of repairs where one is named. */
  | { readonly kind: 'plan-continue'; readonly limit?: number };

/** What begins a turn. */
export type TurnWords =
  | { readonly kind: 'plain'; readonly text: string }
  /** A question that is answered and changes nothing. */
  | { readonly kind: 'ask'; readonly text: string };

/** What a message says of a goal (document 2, `--goal`). */
export type GoalWords =
  | { readonly kind: 'start'; readonly objective: string }
  /** Goes on with the one that is blocked. */
  | { readonly kind: 'go-on' }
  | { readonly kind: 'status' }
  | { readonly kind: 'cancel'; readonly reason?: string };
