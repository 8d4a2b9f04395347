import type { AssistantMessage, ModelEvent, ModelRequest, ModelUsage, ReplyEnd } from './model.ts';

/** Which model does the work, as it was asked for; kept with the run. */
export interface ModelChoice {
  /** By name in slot `provider`. */
  readonly provider: string;
  /** Absent: the provider's default. */
  readonly model?: string;
  readonly apiBase?: string;
  readonly temperature?: number;
  /** The provider's own flags, by name. */
  readonly flags: Readonly<Record<string, string>>;
}

/** One whole reply. */
export interface Turn {
  readonly message: AssistantMessage;
  readonly end: ReplyEnd;
  readonly usage: ModelUsage;
}

/** What a worker asks of a model; which model is not its business. */
export type TurnQuestion = Pick<
  ModelRequest,
  'system' | 'messages' | 'tools' | 'maxOutputTokens' | 'cacheKey'
>;

/** The only way to the model of an attempt: asks again where that helps, counts, masks what is secret. */
export interface Turns {
  /** Tokens that a question and its reply may have together, where that is known of the model. */
  readonly contextTokens?: number;
  /**
   * PROVIDER_FAILED where no reply is to be had. TURN_LIMIT where the attempt has had its turns, and REPLY_MALFORMED
   * where the model, though told, calls what was not declared: it is the model that fails there.
   */
  take(question: TurnQuestion, told?: (event: ModelEvent) => void): Promise<Turn>;
}
