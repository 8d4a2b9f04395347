/** What a message is to a session: words for a model, or a command of its own (document 2, What the service does). */
export type Spoken =
  | TurnWords
  /** Goes on with a plan that failed; with another limit of repairs where one is named. */
  | { readonly kind: 'plan-continue'; readonly limit?: number };

/** What begins a turn. */
export type TurnWords =
  | { readonly kind: 'plain'; readonly text: string }
  /** A question that is answered and changes nothing. */
  | { readonly kind: 'ask'; readonly text: string };
