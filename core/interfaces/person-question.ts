/** A question of a model to a person; of `options` one is chosen, without any the answer is free. */
export interface PersonQuestion {
  readonly question: string;
  readonly options: readonly string[];
  /** The answer goes only to the caller and is not stored. */
  readonly isSecret?: true;
}
