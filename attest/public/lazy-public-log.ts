import type { Clock } from '../../core/base/clock.ts';
import type { HttpAsker } from '../../core/base/net.ts';
import type { LogForm, LogSource } from '../../core/interfaces/sealing.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { readPublicLogSection } from './public-log-section.ts';

/** How `[log]` is read for a public log. */
export const publicLogForm: LogForm = { readSection: readPublicLogSection };

/** Log mode `public-log`. What speaks to such a log is loaded when one is opened. */
export function lazyPublicLog(clock: Clock, fetch: HttpAsker, memory: CheckpointMemory): LogSource {
  return {
    ...publicLogForm,
    open: async (place, signer) =>
      (await import('./public-log-source.ts'))
        .createPublicLogSource(clock, fetch, memory)
        .open(place, signer),
  };
}
