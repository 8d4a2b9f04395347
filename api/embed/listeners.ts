import type { WritError } from '../../core/base/errors.ts';
import type { RunEvent } from '../run/run-events.ts';
import { toFault } from '../to-fault.ts';

/** Who listens to the runs of an engine. */
export interface Listeners {
  readonly tell: (event: RunEvent) => void;
  readonly add: (listener: (event: RunEvent) => void) => () => void;
}

/** Listeners in the order in which they came; a fault of one is reported, and the others still hear. */
export function openListeners(report: (fault: WritError) => void): Listeners {
  const listeners = new Set<{ readonly hear: (event: RunEvent) => void }>();
  return {
    tell(event) {
      for (const { hear } of [...listeners])
        void (async () => hear(event))().catch((thrown: unknown) => report(toFault(thrown)));
    },
    add(hear) {
      const one = { hear };
      listeners.add(one);
      return () => void listeners.delete(one);
    },
  };
}
