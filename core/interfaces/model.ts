/** A vendor-neutral request to a model. Providers translate it for their API. */
export interface ModelRequest {
  /** The vendor's model id. The vendor refuses an unknown one. */
  readonly model: string;
  /** Instructions in order, with the parts that stay the same from turn to turn first. */
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDeclaration[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** Equal for requests with the same beginning; the name of a cached prompt at the vendor. */
  readonly cacheKey?: string;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string; readonly images?: readonly ModelImage[] }
  | AssistantMessage
  /** Results of every call of the assistant message before it, in its order. */
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export type ModelImage = { readonly mediaType: string; readonly data: string };

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly state?: ReplayState;
}

/** A tool call as the model wrote it; unvalidated. */
export interface ToolCall {
  /** Unique in its message. The provider generates it if the vendor sends none. */
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it; it may be malformed. */
  readonly arguments: string;
}

export interface ToolResult {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

/** `parameters` is a JSON Schema of an object. */
export interface ToolDeclaration {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * The form in which the vendor wants an assistant message back: its reasoning, signed or encrypted, unchanged. JSON,
 * opaque to everyone else, and valid for that provider and model only. With another model the message is sent without
 * it, and writ reports that.
 */
export interface ReplayState {
  readonly provider: string;
  readonly model: string;
  readonly value: unknown;
}

/** Tokens of one turn, as the vendor claims. `input` includes `cachedInput`, `output` includes `reasoning`. */
export interface ModelUsage {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
  readonly reasoning?: number;
}

/** `length`: truncated; `paused`: goes on if sent back; `refused`: by the model; `filtered`: by the vendor. */
export type ReplyEnd = 'stop' | 'calls' | 'length' | 'paused' | 'refused' | 'filtered';

/** One piece of a reply. `end` is the last one; without it the reply is incomplete. */
export type ModelEvent =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** The text so far was reasoning. */
  | { readonly type: 'reasoned' }
  /** A call has begun and its arguments are still arriving. It may never complete. */
  | { readonly type: 'calling'; readonly name: string }
  /** Once per call, complete, in the order of the model's message. */
  | { readonly type: 'call'; readonly call: ToolCall }
  /** Replaces an earlier `usage` event. */
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  /** An option of the request that this model does not support, in words. */
  | { readonly type: 'notice'; readonly text: string }
  /**
   * The id of this request: the vendor's, if it sends one before the reply, or ours. Listeners also get the event
   * without an id when the engine retries a request. They must then discard the reply so far.
   */
  | { readonly type: 'asked'; readonly requestId: string }
  /** `state` is the value of the message's `ReplayState`. */
  | { readonly type: 'end'; readonly end: ReplyEnd; readonly state?: unknown };

/** Why there is no reply. Only the engine retries, and only the kinds that its table marks as retryable. */
export const failureKinds = [
  'key-refused',
  'no-credit',
  'forbidden',
  'unknown-model',
  'wrong-address',
  'too-large',
  'bad-request',
  'rate-limited',
  'quota-used-up',
  'overloaded',
  'server',
  'unreachable',
  'broken-reply',
] as const;
export type FailureKind = (typeof failureKinds)[number];
