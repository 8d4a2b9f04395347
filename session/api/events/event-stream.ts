import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomOctets } from '../../../core/base/ids.ts';

/** The events of one session on one wire. */
export interface EventStream {
  /** Takes the answer over; TOO_MANY_SUBSCRIBERS. */
  subscribe(request: IncomingMessage, response: ServerResponse): void;
  /** Delivers what is published, then ends every stream, by force after `withinMs`. */
  end(withinMs: number): Promise<void>;
}

/**
 * A number that events are counted from. Chance makes it: the number of an event of another process, or of the other
 * wire, is none of this stream, whatever the clock did in between.
 */
export function firstSeq(): number {
  return randomOctets(6).readUIntBE(0, 6);
}

/** What a client that comes back says that it saw last; `undefined` where it says nothing that could be a number. */
export function lastSeen({ headers }: IncomingMessage): number | undefined {
  const last = headers['last-event-id'];
  return typeof last === 'string' && /^[0-9]{1,15}$/.test(last) ? Number(last) : undefined;
}
