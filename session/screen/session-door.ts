/* The interface of a session for its screens, also before the session is open. */
import type { McpState } from '../../agent/mcp/mcp-tools.ts';
import type { policyLimits } from '../../engine/config/session-policy.ts';
import type { EarlierPage } from '../api/session-routes.ts';
import type { GivenAnswer } from '../state/interaction.ts';
import type { TranscriptAsk } from '../state/restored-state.ts';
import type { ApprovalPolicy } from '../state/settings.ts';
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

/** A model with its context window in tokens, and USD for a million tokens. */
export interface ListedModel {
  readonly provider: string;
  readonly model: string;
  readonly contextTokens: number;
  readonly inputUsd: number;
  readonly outputUsd: number;
  readonly images: boolean;
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
  /** Models with a known price; `/model` lists them. */
  readonly models?: readonly ListedModel[];
  /** When a person is asked. */
  readonly approvalPolicy?: ApprovalPolicy;
  /** MCP servers as the last turn or run left them; those that none has started yet are `not_started`. */
  readonly mcp?: readonly McpState[];
  /** Tables `[mcp…]` of the working tree that are not committed, and so not in force. */
  readonly mcpUncommitted?: readonly string[];
  /** Limits of the repository and the machine, with the level that sets each. */
  readonly policy?: ReturnType<typeof policyLimits>;
  /** Hooks that are called, as people read them. */
  readonly hooks?: readonly string[];
  readonly logFile?: string;
  /** Only an error code. */
  readonly lastError?: string;
}

/** A client that exists before its session. */
interface LateDoor {
  readonly door: SessionDoor;
  /** Sends what was sent before, in order, and then shows the session. Called once. */
  open(to: SessionDoor): Promise<void>;
}

/**
 * The client of a screen while its session is opened: it shows `starting` and queues commands. If no session opens,
 * they are never answered.
 */
export function openLateDoor(starting: Snapshot): LateDoor {
  const there = Promise.withResolvers<SessionDoor>();
  let real: SessionDoor | undefined;
  let sent = Promise.resolve();
  const listeners = new Set<{ readonly listener: () => void; stop: () => void }>();
  /** Runs the commands one after the other, even if one is refused. */
  const inOrder = (act: (door: SessionDoor) => Promise<void>): Promise<void> => {
    if (real !== undefined) return act(real);
    const acted = sent.then(() => there.promise).then(act);
    sent = acted.catch(() => {});
    return acted;
  };
  return {
    door: {
      snapshot: () => real?.snapshot() ?? starting,
      follow(listener) {
        const one = { listener, stop: real?.follow(listener) ?? (() => {}) };
        listeners.add(one);
        return () => {
          listeners.delete(one);
          one.stop();
        };
      },
      submit: (text, commandId) => inOrder((door) => door.submit(text, commandId)),
      respond: (id, given) => inOrder((door) => door.respond(id, given)),
      review: (said) => inOrder((door) => door.review(said)),
      cancel: async () => real?.cancel(),
      reclaim: () => inOrder((door) => door.reclaim()),
      revoke: (id) => inOrder((door) => door.revoke(id)),
      approvals: async () => (await there.promise).approvals(),
      diagnostics: async () => (await there.promise).diagnostics(),
      earlier: async (ask) => (await there.promise).earlier(ask),
      threads: async (page) => (await there.promise).threads(page),
    },
    async open(to) {
      there.resolve(to);
      for (let last: Promise<void> | undefined; last !== sent; ) {
        last = sent;
        await last;
      }
      real = to;
      for (const one of listeners) one.stop = to.follow(one.listener);
    },
  };
}
