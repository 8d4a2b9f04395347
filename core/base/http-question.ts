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
