import type { Clock } from '../../core/base/clock.ts';
import type { Report } from '../state/command.ts';

/** A report on its way, and whoever waits for what comes of it. */
export interface WaitingReport<Taken> {
  readonly report: Report;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (fault: unknown) => void;
}

/** Reports that are taken together: one write to the disk for all of them. */
export interface ReportBatch<Taken> {
  readonly reports: WaitingReport<Taken>[];
  /** Resolves when it need not wait for more of them. */
  readonly due: Promise<void>;
  /** It is due. */
  hurry(): void;
}

/** How long reports for which nobody waits are gathered: less than people see, and many short calls. */
const gatheredMs = 50;

/** Reports of one batch; with more of them it is due. */
export const mostTogether = 256;

/** A batch that is due when it is told so, and after a moment by itself. */
export function openBatch<Taken>(clock: Clock): ReportBatch<Taken> {
  const over = new AbortController();
  const { promise: due, resolve } = Promise.withResolvers<void>();
  clock.sleep(gatheredMs, over.signal).then(resolve, resolve);
  return {
    reports: [],
    due,
    hurry() {
      resolve();
      over.abort(hurried);
    },
  };
}

/** Made once: a reason that is made for each batch costs as much as the batch. */
const hurried = new Error('the batch is due');
