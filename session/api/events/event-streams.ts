import type { Clock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import type { BroadcastSettings } from '../../../http/broadcast.ts';
import type { Exchange } from '../../../http/route.ts';
import type { SessionChannel } from '../../channel/open-channel.ts';
import { openChangeStream } from './change-stream.ts';
import type { EventStream } from './event-stream.ts';
import { openSnapshotStream } from './snapshot-stream.ts';

/** Which events a reader asks for: whole snapshots, or changes. */
type Wire = '1' | '2';
const openers = { 1: openSnapshotStream, 2: openChangeStream } as const;

/** What streams have to take in when their session is over. */
const endWithinMs = 1_000;

/**
 * Answers with the event stream that `?wire` names, the snapshots where it names none. The streams of a session are
 * made when they are first asked for, and end with it. INVALID_QUERY_PARAM, CODE_UI_UNAVAILABLE.
 */
export function eventStreams(
  clock: Clock,
  streams: Partial<BroadcastSettings> = {},
): (channel: SessionChannel, exchange: Pick<Exchange, 'request' | 'response' | 'query'>) => void {
  const open = {
    1: new WeakMap<SessionChannel, EventStream>(),
    2: new WeakMap<SessionChannel, EventStream>(),
  };
  return (channel, { request, response, query }) => {
    const wire = readWire(query);
    let stream = open[wire].get(channel);
    if (channel.closed.aborted) throw new WritError('CODE_UI_UNAVAILABLE');
    if (stream === undefined) {
      const opened = openers[wire]({ channel, clock, streams });
      channel.closed.addEventListener('abort', () => void opened.end(endWithinMs), { once: true });
      open[wire].set(channel, opened);
      stream = opened;
    }
    stream.subscribe(request, response);
  };
}

function readWire(query: URLSearchParams): Wire {
  const [wire = '1', ...more] = query.getAll('wire');
  if (more.length === 0 && (wire === '1' || wire === '2')) return wire;
  const message = `expected \`wire\` to be 1 or 2, found \`${[wire, ...more].join(', ').slice(0, 100)}\``;
  throw new WritError('INVALID_QUERY_PARAM', { message });
}
