/** How much of a thread is drawn: more than a person looks through, and little enough for a terminal and a browser. */
export const graphLimits = {
  nodes: 5000,
  edges: 20_000,
  /** Runs that are there at least as one node each. */
  runs: 1000,
  /** Of an intent's history, the last. */
  events: 100,
  /** Intents before and after that of the thread. */
  intents: 50,
  /** An object is kilobytes; a ref that came from elsewhere may hold anything. */
  objectBytes: 4 * 1024 * 1024,
  /** Of all objects together. */
  bytes: 128 * 1024 * 1024,
} as const;
