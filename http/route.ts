import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request that was let in, on its way to its answer. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Values of the `:name` parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /**
   * The JSON object in the body; throws what `readJsonBody` throws. Once. `admit` throws where the sender may not have
   * an answer: called when type and size of the body are known, before it is parsed.
   */
  readBody(admit?: () => void): Promise<Readonly<Record<string, unknown>>>;
}

/** One resource and method as data. */
export interface Route {
  readonly method: 'GET' | 'POST';
  /** `/api/health`; `:name` stands for one segment. */
  readonly path: string;
  /** A page that people go to: of those elsewhere it is the notice (`LoopbackServerOptions.notice`). */
  readonly isPage?: true;
  /** Throws where this request may not have an answer; called before anything of the body is read. */
  readonly admit?: (request: IncomingMessage) => void;
  /** The JSON value to answer with, or `undefined` where the response was taken over (an event stream). */
  readonly answer: (exchange: Exchange) => unknown;
}
