import type { Clock } from '../core/base/clock.ts';
import type { RunEventType } from './event-types.ts';
import type { ServiceAccess } from './find-service.ts';

/**
 * Tells a running service what a run of the engine does; where none runs, nobody. A run never fails or waits for it.
 */
export interface RunPublisher {
  publish(type: RunEventType, data: { readonly run_id: string } & Readonly<Record<string, unknown>>): void;
  /** Resolves when everything has been handed over, after `withinMs` at the latest; what is left then is dropped. */
  settle(withinMs: number): Promise<void>;
}

const answerWithinMs = 1_000;
/** A service that does not answer must not make a long run remember everything. */
const maxQueued = 1_000;

/** Hands events over one after the other, each to the service that `access` finds then. */
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
        // Nobody listens, or not to this: the run's own record is what counts.
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
