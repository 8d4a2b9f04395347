import type { RunView } from '../../core/contract/run-view.ts';

/** A file of a record as it was found; without bytes where it cannot be read, and `problem` says why. */
export interface FoundFile {
  readonly path: string;
  readonly bytes?: Uint8Array;
  readonly problem?: string;
}

/** One run of a thread, as read and not yet believed. */
export interface RunRecord {
  readonly runId: string;
  readonly state: RunView['state'];
  /** Where its files stand: a ref, else the run's directory. */
  readonly place: string;
  readonly files: readonly FoundFile[];
  /** False: objects are there that were not read. */
  readonly isWhole: boolean;
  /** Why its files cannot be listed. */
  readonly problem?: string;
  /** What it was started for, where no object says so yet. */
  readonly started?: { readonly summary: string; readonly specId: string; readonly digest: string };
}

/** One intent as its ref holds it. */
export interface IntentRecord {
  readonly place: string;
  readonly intent: FoundFile;
  /** In the order in which they were appended; of a long history the last. */
  readonly events: readonly FoundFile[];
}

/** All that is known of a thread. */
export interface ThreadRecord {
  readonly threadId: string;
  /** What its session calls it, where it has one. */
  readonly title?: string;
  /** Its own intent, and those that it took the place of or that took its place. */
  readonly intents: readonly IntentRecord[];
  /** Oldest first. */
  readonly runs: readonly RunRecord[];
  /** Older runs are left out. */
  readonly isTruncated: boolean;
}
