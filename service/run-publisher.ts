/* Sends events of engine runs to the service, and follows the events of a service. */
import type { Clock } from '../core/base/clock.ts';
import { isWritError, WritError } from '../core/base/errors.ts';
import { readEventStream } from '../core/base/event-stream.ts';
import { streamHttp } from '../core/base/net.ts';
import { unseen } from '../core/base/printable.ts';
import { accessService, type ServiceAccess, type ServicePlace } from './find-service.ts';

/**
 * Sends the events of an engine run to a running service, if there is one. A run never fails or waits because of it.
 */
interface RunPublisher {
  publish(type: RunEventType, data: { readonly run_id: string } & Readonly<Record<string, unknown>>): void;
  /** Resolves when every event has been sent, after `withinMs` at the latest. Events left then are dropped. */
  settle(withinMs: number): Promise<void>;
}

const answerWithinMs = 1_000;
/** A service that does not answer must not make a long run remember everything. */
const maxQueued = 1_000;

/** Sends events one at a time, each to the service that `access` finds at that time. */
export function openRunPublisher(access: () => Promise<ServiceAccess>, clock: Clock): RunPublisher {
  const queue: { readonly type: RunEventType; readonly data: unknown }[] = [];
  let working: Promise<void> | undefined;
  const work = async (): Promise<void> => {
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      try {
        const { ask } = await access();
        const path = '/api/service/publish';
        await ask({ method: 'POST', path, body: event, withinMs: answerWithinMs, isOfEngine: true });
      } catch {
        // No service runs, or it refuses the event. The run's own record is authoritative.
      }
    }
    working = undefined;
  };
  return {
    publish(type, data) {
      if (queue.length < maxQueued) queue.push({ type, data });
      working ??= work();
    },
    async settle(withinMs) {
      if (working === undefined) return;
      const over = new AbortController();
      const late = clock.sleep(withinMs, over.signal).catch(() => undefined);
      await Promise.race([working, late]);
      over.abort();
      queue.length = 0;
    },
  };
}

const connectWithinMs = 5_000;

/**
 * Passes every event of the running service to `onEvent`, as the JSON text it sent. Ends when the service ends or
 * disappears, or `onEvent` resolves to false.
 *
 * Throws SERVICE_NOT_RUNNING if none runs, SERVICE_REFUSED if it refuses access, and the signal's reason on abort.
 * `onOpen` is called when the stream is open: events published from then on arrive.
 */
export async function followEvents(
  place: ServicePlace,
  options: {
    readonly signal: AbortSignal;
    readonly onOpen: (baseUrl: string) => void;
    /**
     * The next one is read once it has settled: behind a slow reader the service drops events, we do not hoard them.
     */
    readonly onEvent: (data: string) => Promise<boolean>;
  },
): Promise<void> {
  const { signal, onOpen, onEvent } = options;
  const { discovery, headers } = await accessService(place);
  const url = `${discovery.baseUrl}/api/service/events`;
  const question = {
    url,
    headers: { ...headers, accept: 'text/event-stream' },
    withinMs: connectWithinMs,
    signal,
  };
  await streamHttp(question, async ({ status, body }) => {
    if (status !== 200)
      throw new WritError('SERVICE_REFUSED', {
        message: `the service answered ${status} to the request for its events`,
        detail: { status },
      });
    onOpen(discovery.baseUrl);
    try {
      for await (const { data } of readEventStream(body)) if (!(await onEvent(data))) return;
    } catch (fault) {
      signal.throwIfAborted();
      // A killed server cuts the connection; the events it sent have been passed on.
      if (isWritError(fault)) throw fault;
    }
  });
}

/** Event types of an engine run; writ itself publishes them, each with `run_id`. */
const runEventTypes = ['run_started', 'stage_settled', 'decision_made', 'approval_needed'] as const;
export type RunEventType = (typeof runEventTypes)[number];

/** Types that only writ publishes; no notification may carry one, see `isReserved`. */
export const builtInTypes = ['dirty_marked', 'service_lifecycle', 'resync', ...runEventTypes] as const;

/** Whether a type differs from one of writ's own at most by case, blanks, unseen characters and forms of letters. */
export function isReserved(type: string): boolean {
  const seen = type.normalize('NFKC').replaceAll(unseen, '').replaceAll(' ', '').toLowerCase();
  return (builtInTypes as readonly string[]).includes(seen);
}

export function isRunEvent(type: string): type is RunEventType {
  return (runEventTypes as readonly string[]).includes(type);
}
