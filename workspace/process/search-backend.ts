/** One result as a service tells it: plain text, and an address that nobody has judged yet. */
export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** What an answer of a service comes to; `failed` lets the next one be asked. */
export type SearchReading =
  | { readonly kind: 'results'; readonly results: readonly SearchResult[] }
  | { readonly kind: 'failed'; readonly found: string; readonly restSeconds?: number };

/** A service that searches the web, with its key where it has one: what to ask, and what the answer says. Pure. */
export interface SearchBackend {
  readonly name: string;
  /** Asked with GET. Its headers go to that host alone, whatever it redirects to. */
  toQuestion(query: string): {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  };
  /** Reads at most what is handed over; whatever it is, it never throws. */
  read(answer: { readonly status: number; readonly body: Uint8Array }): SearchReading;
}

/** What a process can search with. */
export interface SearchAccess {
  /** In the order in which they are asked; the next one where one fails. */
  readonly backends: readonly SearchBackend[];
  /** Values that nobody may be told. */
  readonly secrets: readonly string[];
  /** What is to be said once, e.g. that a key cannot be used. */
  readonly notices: readonly string[];
}

/** Finds the keys and opens the services, when the first search wants them. */
export type FindSearch = () => Promise<SearchAccess>;
