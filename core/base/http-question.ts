/** One question to a service over HTTP. */
export interface HttpQuestion {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For the whole exchange, from name look-up to the last octet. */
  readonly withinMs: number;
  /** Most octets of an answer's body. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** A long answer, read as it comes. */
export interface HttpStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Ends when the other side ends it, or is gone; read it once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** One HTTP request with a streamed response. */
export interface StreamQuestion extends Omit<HttpQuestion, 'withinMs'> {
  /** Until the headers of the answer. */
  readonly withinMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
  /** The host, with its port, that may be reached over plain HTTP beyond the loopback. */
  readonly plainHttp?: string;
}

/** An answer that comes in pieces; disposing of it closes the connection where it has not ended. */
export interface OpenAnswer extends HttpStream, AsyncDisposable {}

/**
 * Sends a request as `requestHttp` does, and resolves when the headers arrive. The call or the body can throw
 * NETWORK_FAILED with `detail.reason`: `unreachable`, `stalled`, `dropped` or `too-large`.
 */
export type HttpStreamer = (question: StreamQuestion) => Promise<OpenAnswer>;
