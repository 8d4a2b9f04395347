/* The interface of a session for its screens. */
import type { EarlierPage } from '../api/session-routes.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import type { TranscriptAsk } from '../state/restored-state.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { HunkReview } from '../state/work.ts';
import type { ThreadList } from '../thread/check-threads.ts';
import type { ThreadPage } from '../thread/thread-index.ts';

/**
 * A screen's access to a session, local or remote: the newest snapshot, and the commands that every client has. A
 * refused command rejects with a `WritError` and changes nothing.
 */
export interface SessionDoor {
  /** The same object until something changes. */
  readonly snapshot: () => Snapshot;
  /** Called when the snapshot is another one; answers how to stop that. */
  follow(told: () => void): () => void;
  /** A message, or a command that begins with a slash. The same `commandId` twice is one message. */
  submit(text: string, commandId?: string): Promise<void>;
  respond(id: string, given: GivenAnswer): Promise<void>;
  review(said: HunkReview): Promise<void>;
  cancel(): Promise<void>;
  reclaim(): Promise<void>;
  approvals(): Promise<readonly ListedGrant[]>;
  revoke(id: string): Promise<void>;
  diagnostics(): Promise<Partial<Diagnostics>>;
  /** Entries before the window of the snapshot: the last `limit` of the first `before` of the thread. */
  earlier(ask: TranscriptAsk): Promise<EarlierPage>;
  threads(page: ThreadPage): Promise<ThreadList>;
}

export interface ListedGrant {
  readonly id: string;
  readonly kind: string;
  readonly what: string;
  readonly cwd: string;
  readonly secondsLeft?: number;
}

/** What a session runs on, without anything secret. */
export interface Diagnostics {
  readonly pid: number;
  /** Where the key of the provider was found, never the key. */
  readonly key?: { readonly name: string; readonly source: string };
  readonly attachable: readonly string[];
  readonly ports: { readonly web: number; readonly mcp?: number };
  readonly sandbox: {
    readonly backend: string;
    readonly enforced: readonly string[];
    readonly selfApproval: 'possible' | 'impossible' | 'not_tried';
  };
  readonly logFile?: string;
  /** Only an error code. */
  readonly lastError?: string;
}
