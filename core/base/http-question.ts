/* HTTP requests and responses as plain types, and the rule for which service addresses writ accepts. */

/** One HTTP request. */
export interface HttpQuestion {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Limit of the whole exchange, from name look-up to the last octet. */
  readonly withinMs: number;
  /** Most octets of an answer's body. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** A response that is read as it arrives. */
export interface HttpStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends when the server ends it or disappears. Read it once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** One HTTP request with a streamed response. */
export interface StreamQuestion extends Omit<HttpQuestion, 'withinMs'> {
  /** Limit until the headers of the response. */
  readonly withinMs: number;
  /** Limit between two pieces of the body. */
  readonly idleMs: number;
  /** The host, with its port, that may be reached over plain HTTP beyond the loopback. */
  readonly plainHttp?: string;
}

/** A response that arrives in pieces. Disposing of it closes the connection if it has not ended. */
export interface OpenAnswer extends HttpStream, AsyncDisposable {}

/**
 * Sends a request as `requestHttp` does, and resolves when the headers arrive. The call or the body can throw
 * NETWORK_FAILED with `detail.reason`: `unreachable`, `stalled`, `dropped` or `too-large`.
 */
export type HttpStreamer = (question: StreamQuestion) => Promise<OpenAnswer>;

/** Hosts, with their ports, that may be reached over plain HTTP: `gpubox:11434`. */
export type PlainHttpHosts = readonly string[] | 'any';

/**
 * Returns why `text` is not a valid service address, or `undefined` if it is valid. Plain HTTP is allowed only for
 * the loopback and for `plainHttp`.
 */
export function serviceUrlFault(text: string, plainHttp: PlainHttpHosts = []): string | undefined {
  if (text.length > 2048 || !URL.canParse(text)) return 'expected an absolute URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'expected no name or password in the URL';
  if (url.search !== '' || url.hash !== '') return 'expected no query and no fragment';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:' && (isLoopback(url) || plainHttp === 'any' || plainHttp.includes(url.host)))
    return undefined;
  return 'expected `https:` (plain `http:` only on the loopback)';
}

/** Returns host and port of an address that uses plain HTTP beyond the loopback. */
export function plainHttpHost(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.protocol === 'http:' && !isLoopback(url) ? url.host : undefined;
}

/** True if the URL names this machine's loopback, by the name `localhost` or by address. Resolves no name. */
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
