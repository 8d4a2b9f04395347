/* An open model, and the listener for its calls. */
import type { HttpStreamer } from '../../core/base/http-question.ts';
import type { ModelUsage } from '../../core/interfaces/model.ts';
import type { ModelWork } from '../../core/interfaces/model-work.ts';
import type { ClassWords } from '../../core/interfaces/privacy.ts';
import type { Provider, ProviderSource } from '../../core/interfaces/provider.ts';
import type { FoundAgent } from '../../workspace/process/find-program.ts';
import type { AgentRecipe } from '../external/recipes.ts';

export type ModelOrigin = Pick<
  ModelWork,
  'provider' | 'model' | 'endpoint' | 'agent' | 'profile' | 'replayed'
>;

/** An open model, ready for calls. */
export interface OpenModel {
  readonly provider: Provider;
  readonly model: string;
  readonly temperature?: number;
  /** Notices about how the model is reached. */
  readonly notices?: readonly string[];
  /** Who is called, where and by whom, as a provenance names it. */
  readonly origin: ModelOrigin;
  /** Words of the repository that mark classes of data. */
  readonly words?: ClassWords;
  /** For a backend that is an agent program: the program, and where and how it reaches its model. */
  readonly agent?: OpenAgent;
  /** For an external agent: its recipe, and how its requests reach the model. */
  readonly external?: OpenExternal;
  /** Values that no prompt, answer or record may hold. */
  readonly secrets: readonly string[];
}

/** What the relay of an external agent needs. */
export interface OpenExternal {
  readonly recipe: AgentRecipe & { readonly name: string };
  readonly base: string;
  readonly key?: string;
  /** The provider with the configured price of a model. */
  readonly priced: (model: string) => Provider;
  /** Why the policy refuses a model; `undefined` for one that it allows. */
  readonly refusal: (model: string) => string | undefined;
}

/** An agent that can be started. */
export interface OpenAgent {
  readonly base: string;
  readonly key?: string;
  readonly stream: HttpStreamer;
  readonly source: NonNullable<ProviderSource['agent']>;
  readonly program: FoundAgent;
  readonly flags: Readonly<Record<string, string>>;
}

/** A question to a model that is about to be put. */
export interface MeteredQuestion {
  readonly provider: string;
  readonly model: string;
  /** Tokens that it has, about. */
  readonly inputTokens: number;
  /** Cost of the input tokens, in units of 0.001 USD; absent if the model's price is unknown. */
  readonly costUnits?: number;
  /** Key of the Task that the call serves; absent: none. */
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

/** A listener for every model call. */
export interface ModelMeter {
  /**
   * Runs before each model call, retries included. If it throws, the call is not made. The returned function is
   * called once when the reply ends; without an argument if no usage was reported and no cost applies.
   */
  begin(question: MeteredQuestion): (reply?: MeteredReply) => void;
  /** Reports a call's request id, if it has one, before its reply. */
  named?(question: Pick<MeteredQuestion, 'provider' | 'model'> & { readonly requestId: string }): void;
}
