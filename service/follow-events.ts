import { isWritError, WritError } from '../core/base/errors.ts';
import { readEventStream } from '../core/base/event-stream.ts';
import { streamHttp } from '../core/base/net.ts';
import { accessService } from './find-service.ts';
import type { ServicePlace } from './service-place.ts';

const connectWithinMs = 5_000;

/**
 * Hands every event of the running service, as the JSON text that it sent, to `onEvent`, until the service ends or is
 * gone, or `onEvent` answers false. SERVICE_NOT_RUNNING where none runs, SERVICE_REFUSED where it lets nobody in; the
 * signal's reason once it aborts. `onOpen` is called when the stream stands: what is published from then on arrives.
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
      // A killed server cuts the connection; what it sent has been handed on.
      if (isWritError(fault)) throw fault;
    }
  });
}
