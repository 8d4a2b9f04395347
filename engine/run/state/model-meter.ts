import type { ModelUsage } from '../../../core/contract/model.ts';

/** A question to a model that is about to be put. */
export interface MeteredQuestion {
  readonly provider: string;
  readonly model: string;
  /** Tokens that it has, about. */
  readonly inputTokens: number;
  /** What those cost by themselves, in units of 0.001 USD; absent where nobody knows the price of the model. */
  readonly costUnits?: number;
  /** Key of the Task that it is asked for; absent: for none. */
  readonly task?: string;
}

/** What a question came to, its reply broken off or whole. */
export interface MeteredReply {
  readonly usage: ModelUsage;
  /** As in `MeteredQuestion`. */
  readonly costUnits?: number;
  /** Tokens that the model holds, where that is known. */
  readonly contextTokens?: number;
}

/** Whoever is told of every question to a model. */
export interface ModelMeter {
  /**
   * Called before each question, also one that is asked again; what it throws keeps it from being put. What it answers
   * is called once, when the reply is over; without what it came to where nothing was told and nothing is to be paid.
   */
  begin(question: MeteredQuestion): (reply?: MeteredReply) => void;
  /** Told what a question is called, where it has a name; before its reply. */
  named?(question: Pick<MeteredQuestion, 'provider' | 'model'> & { readonly requestId: string }): void;
}
