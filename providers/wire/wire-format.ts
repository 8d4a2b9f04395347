/* The interface of a vendor's wire format. */
import type {
  FailureKind,
  ModelEvent,
  ModelImage,
  ModelMessage,
  ModelRequest,
  ReplyEnd,
  ToolCall,
} from '../../core/interfaces/model.ts';
import { rowOf } from './traffic-file.ts';

/** Maximum number of calls in one message; more are not a plan. */
export const maxCalls = 128;

/** A question in a vendor's words. */
export interface WireRequest {
  /** After the base, with its slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** How the answer comes: a stream of events, lines of JSON, or one document. */
  readonly framing: 'events' | 'lines' | 'whole';
  /** Messages about requested settings that are left out. */
  readonly notices?: readonly string[];
}

/** Reads one reply, frame by frame. */
export interface WireReader {
  /**
   * A frame's JSON; `type` is the event's name in a stream that has names. Throws what `brokenReply` and `saidFailure`
   * make.
   */
  take(frame: unknown, type: string): Iterable<ModelEvent>;
  /**
   * Everything came: the rest of the reply, its `end` last. Throws where it is not whole. `isDone`: the stream ended
   * with `[DONE]`.
   */
  finish(isDone?: boolean): Iterable<ModelEvent>;
  /** How far the reply has come. A connection that stays open after the end of a reply is not waited for. */
  progress(): ReplyProgress;
}

/**
 * `begun`: more follows. `ending`: the vendor has reported why the reply ended; counts or more may still follow.
 * `whole`: no more follows.
 */
export type ReplyProgress = 'begun' | 'ending' | 'whole';

/** The failure in an answer that is not a reply. */
export interface SaidFailure {
  readonly kind: FailureKind;
  /** The vendor's words. */
  readonly found: string;
  readonly retryAfterSeconds?: number;
}

/** One vendor's wire: pure, so that it can be read beside the vendor's page. */
export interface WireFormat {
  readonly provider: string;
  /** Set if the vendor assigns no id to a request: each then carries one from writ. */
  readonly isNamedHere?: true;
  toWire(request: ModelRequest): WireRequest;
  /** For one reply. */
  reader(request: ModelRequest): WireReader;
  /**
   * Interprets an answer with any status except 200, by its JSON (`undefined` if it is not JSON). Without a status,
   * the failure came in the middle of a reply.
   */
  failureOf(status: number | undefined, body: unknown): SaidFailure;
}

/** Thrown by a reader if the vendor reports a failure in the middle of a reply. */
export class SaidFailureError extends Error {
  readonly said: SaidFailure;
  constructor(said: SaidFailure) {
    super(said.found);
    this.said = said;
  }
}

/** Thrown by a reader that cannot make a reply of what came. */
export function brokenReply(found: string): SaidFailureError {
  return new SaidFailureError({ kind: 'broken-reply', found });
}

/** Converts a vendor's reason for the end of a reply. Throws `brokenReply` for a reason that is not in the table. */
export function endOf(ends: Readonly<Record<string, ReplyEnd>>, reason: string, why = ''): ReplyEnd {
  const end = rowOf(ends, reason);
  if (end !== undefined) return end;
  throw brokenReply(
    `the reply ended for the reason \`${reason.slice(0, 80)}\`${why === '' ? '' : `: ${why}`}`,
  );
}

/** Builds the usage of a reply in tokens; omits counts that the vendor does not report. */
export function usageEvent(
  input: number,
  output: number,
  cached: number | undefined,
  thought: number | undefined,
): ModelEvent {
  return {
    type: 'usage',
    usage: {
      input,
      output,
      ...(cached === undefined ? {} : { cachedInput: cached }),
      ...(thought === undefined ? {} : { reasoning: thought }),
    },
  };
}

/** Headers with the vendor's id of a request; the first present one applies. */
const names = ['x-request-id', 'request-id', 'msh-request-id', 'x-goog-request-id'] as const;

/** Returns the vendor's id of a request; `undefined` if there is none that can be quoted. */
export function requestIdOf(headers: Readonly<Record<string, string>>): string | undefined {
  return names.map((name) => headers[name]?.trim()).find((id) => /^[\x21-\x7e]{1,128}$/.test(id ?? ''));
}

/** Returns a path below a base, prefixed with `/v1` or similar unless the base ends with a version. */
export function versioned(base: string, version: string, path: string): string {
  return /\/v\d{1,3}[a-z0-9]{0,12}$/.test(base) ? path : `${version}${path}`;
}

/** What every vendor accepts as the name of a tool. */
export function isToolName(name: string): boolean {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name);
}

/**
 * The name of a tool without what servers leave on it: `functions.read_file`, `default_api.read_file`,
 * `read_file<|channel|>commentary`, `functions.read_file:0`. A declared name stays as it is.
 */
export function cleanToolName(given: string, declared: ReadonlySet<string>): string {
  if (declared.has(given)) return given;
  const [name = ''] = given.split('<|', 1);
  return name
    .trim()
    .replace(/^(?:functions|default_api)\./, '')
    .replace(/:\d{1,4}$/, '');
}

/**
 * Returns the request without calls that would make a vendor refuse the whole conversation: those without a name or
 * with an invalid tool name. The result of such a call becomes a message of the user.
 */
export function sendableRequest(request: ModelRequest): ModelRequest {
  const declared = new Set(request.tools.map(({ name }) => name));
  const isSendable = ({ name }: Pick<ToolCall, 'name'>): boolean => declared.has(name) || isToolName(name);
  const isUnsendable = (message: ModelMessage): boolean =>
    message.role === 'assistant' && !message.calls.every(isSendable);
  if (!request.messages.some(isUnsendable)) return request;
  let left = new Map<string, ToolCall>();
  const messages = request.messages.flatMap((message): readonly ModelMessage[] => {
    if (message.role === 'assistant') {
      left = new Map(message.calls.filter((call) => !isSendable(call)).map((call) => [call.id, call]));
      if (left.size === 0) return [message];
      const { text, state } = message;
      const calls = message.calls.filter(isSendable);
      if (text === '' && calls.length === 0) return [];
      // A text is reasoning; parts hold the call.
      const kept = typeof state?.value === 'string' ? { state } : {};
      return [{ role: 'assistant', text, calls, ...kept }];
    }
    if (message.role === 'user' || left.size === 0) return [message];
    const results = message.results.filter(({ callId }) => !left.has(callId));
    const said = message.results
      .filter(({ callId }) => left.has(callId))
      .map(({ text }) => `You called a tool without a valid name, so nothing was called: ${text}`);
    left = new Map();
    return [
      ...(results.length === 0 ? [] : [{ role: 'tool', results } as const]),
      ...(said.length === 0 ? [] : [{ role: 'user', text: said.join('\n') } as const]),
    ];
  });
  return { ...request, messages };
}

/** An image as vendors of both OpenAI dialects want it. */
export function dataUrl({ mediaType, data }: ModelImage): string {
  return `data:${mediaType};base64,${data}`;
}

/** What is read of a vendor's JSON: a part of another type than expected is as good as absent. */
export type Json = Readonly<Record<string, unknown>>;

export function objectIn(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

/** An object, or one without anything. */
export function partsOf(value: unknown): Json {
  return objectIn(value) ?? {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Text, or none at all. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A count of tokens, from 0. */
export function countIn(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}

/** Longer ids are replaced: an id is a name, not a place for data. */
const maxLength = 256;

/** Ids for the calls of one message: the vendor's own, or `call-1`, `call-2`… where it gives none, or one twice. */
export function callIds(): (given: string) => string {
  const taken = new Set<string>();
  let calls = 0;
  return (given) => {
    calls += 1;
    let id = given;
    for (let next = calls; id === '' || id.length > maxLength || taken.has(id); next += 1)
      id = `call-${next}`;
    taken.add(id);
    return id;
  };
}
