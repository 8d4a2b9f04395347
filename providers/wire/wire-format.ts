import type { FailureKind, ModelEvent, ModelRequest, ReplyEnd } from '../../core/contract/model.ts';
import { rowOf } from './row-of.ts';

/** Calls of one message: beyond, it is no plan. */
export const maxCalls = 128;

/** A question in a vendor's words. */
export interface WireRequest {
  /** After the base, with its slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** How the answer comes: a stream of events, lines of JSON, or one document. */
  readonly framing: 'events' | 'lines' | 'whole';
  /** What was asked for and is left out, in words. */
  readonly notices?: readonly string[];
}

/** Reads one reply, frame by frame. */
export interface WireReader {
  /**
   * A frame's JSON; `type` is the event's name in a stream that has names. Throws what `brokenReply` and `saidFailure`
   * make.
   */
  take(frame: unknown, type: string): Iterable<ModelEvent>;
  /** Everything came: the rest of the reply, its `end` last. Throws where it is not whole. */
  finish(): Iterable<ModelEvent>;
  /** How far the reply has come. A connection that stays open after the end of a reply is not waited for. */
  progress(): ReplyProgress;
}

/**
 * `begun`: more is to come. `ending`: the vendor has said why the reply ended; counts or more may still follow.
 * `whole`: nothing follows.
 */
export type ReplyProgress = 'begun' | 'ending' | 'whole';

/** What an answer that is no reply says. */
export interface SaidFailure {
  readonly kind: FailureKind;
  /** The vendor's words. */
  readonly found: string;
  readonly retryAfterSeconds?: number;
}

/** One vendor's wire: pure, so that it can be read beside the vendor's page. */
export interface WireFormat {
  readonly provider: string;
  /** Set where the other side has no name for a question: each gets one of ours, and takes it along. */
  readonly isNamedHere?: true;
  toWire(request: ModelRequest): WireRequest;
  /** For one reply. */
  reader(request: ModelRequest): WireReader;
  /**
   * What an answer with another status than 200 means, by its JSON (`undefined` where it is none). Without a status,
   * the failure came in the middle of a reply.
   */
  failureOf(status: number | undefined, body: unknown): SaidFailure;
}

/** Thrown by a reader: the vendor says, in the middle of a reply, that there will be none. */
export class SaidFailureError extends Error {
  readonly said: SaidFailure;
  constructor(said: SaidFailure) {
    super(said.found);
    this.said = said;
  }
}

/** Thrown by a reader that cannot make a reply of what came. */
export function brokenReply(found: string): SaidFailureError {
  return new SaidFailureError({ kind: 'broken-reply', found });
}

/** What a vendor's reason for the end of a reply means. Throws `brokenReply` for a reason that no table has. */
export function endOf(ends: Readonly<Record<string, ReplyEnd>>, reason: string, why = ''): ReplyEnd {
  const end = rowOf(ends, reason);
  if (end !== undefined) return end;
  throw brokenReply(
    `the reply ended for the reason \`${reason.slice(0, 80)}\`${why === '' ? '' : `: ${why}`}`,
  );
}
