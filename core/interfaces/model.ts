/** What a model is asked, in no vendor's words; providers turn it into theirs (document 2, Providers). */
export interface ModelRequest {
  /** The vendor's own id; an unknown one is the vendor's to refuse. */
  readonly model: string;
  /** Instructions, in order, what stays the same from turn to turn first. */
  readonly system: readonly string[];
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDeclaration[];
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  /** The same for requests that begin alike: where a vendor keeps a prompt, this is its name. */
  readonly cacheKey?: string;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | AssistantMessage
  /** Answers to every call of the assistant message before it, in its order. */
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly state?: ReplayState;
}

/** A call as the model wrote it: nothing of it has been checked. */
export interface ToolCall {
  /** Unique in its message; made up by the provider where the vendor gives none. */
  readonly id: string;
  readonly name: string;
  /** JSON text, or what the model took for it. */
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
 * How the vendor wants an assistant message back: its reasoning, signed or encrypted, as it came. JSON, read by nobody
 * else, and good for that provider and model alone: under another one the message goes without, which is said.
 */
export interface ReplayState {
  readonly provider: string;
  readonly model: string;
  readonly value: unknown;
}

/** Tokens of one turn. `input` holds `cachedInput`, `output` holds `reasoning`; a claim of the vendor. */
export interface ModelUsage {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
  readonly reasoning?: number;
}

/** Why a reply ended: `length` is cut, `refused` is the model's no, `filtered` the vendor's. */
export type ReplyEnd = 'stop' | 'calls' | 'length' | 'refused' | 'filtered';

/** One piece of a reply, as it comes. `end` is the last one: a reply without it is none. */
export type ModelEvent =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** The text so far was reasoning. */
  | { readonly type: 'reasoned' }
  /** A call has begun, whose arguments are on their way: it may still come to nothing. */
  | { readonly type: 'calling'; readonly name: string }
  /** Once per call, whole, in the order of the model's. */
  | { readonly type: 'call'; readonly call: ToolCall }
  /** Replaces what was told before. */
  | { readonly type: 'usage'; readonly usage: ModelUsage }
  /** Something that was asked for and cannot be had of this model, in words. */
  | { readonly type: 'notice'; readonly text: string }
  /**
   * What this question is called: by the vendor, where it says so before it answers, or by us. Whoever listens hears it
   * without a name, too, if the engine puts a question again: what came of the reply before is void.
   */
  | { readonly type: 'asked'; readonly requestId: string }
  /** `state` is the value of the message's `ReplayState`. */
  | { readonly type: 'end'; readonly end: ReplyEnd; readonly state?: unknown };

/** Why there is no reply. Only the engine asks again, and only what a table says may be asked again. */
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
