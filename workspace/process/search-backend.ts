/** One result of a search service: plain text, and an address that was not checked. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** The parsed answer of a service. After `failed`, the next service is queried. */
export type SearchReading =
  | { readonly kind: 'results'; readonly results: readonly SearchResult[] }
  | { readonly kind: 'failed'; readonly found: string; readonly restSeconds?: number };

/** A web search service, with its key if it has one. It builds requests and parses answers. Pure. */
export interface SearchBackend {
  readonly name: string;
  /** Sent with GET. The headers go only to that host, even after a redirect. */
  toQuestion(query: string): {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  /** Parses the given bytes and never throws. */
  read(answer: { readonly status: number; readonly body: Uint8Array }): SearchReading;
}

/** What a process can search with. */
export interface SearchAccess {
  /** In query order: if one fails, the next one is used. */
  readonly backends: readonly SearchBackend[];
  /** Values that must never be disclosed. */
  readonly secrets: readonly string[];
  /** Messages to print once, e.g. that a key cannot be used. */
  readonly notices: readonly string[];
}

/** Finds the keys and opens the services, when the first search wants them. */
export type FindSearch = () => Promise<SearchAccess>;
