/* What a command line reports while it works: the progress line on stderr, and where its time went. */
import type { TimeSpent } from '../../api/run/verdict.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { ToolRequest } from '../../core/interfaces/hook-payload.ts';
import { escapeTerminal, type Sink } from './print.ts';

/** One line on stderr that is rewritten in place. Without a terminal, calls have no effect. */
export interface Progress {
  /** What is going on now; at most ten redraws a second. */
  update(text: string): void;
  /** Erases the line; call before printing anything else to stderr. */
  clear(): void;
  readonly time: TimeTally;
}

/** `enabled` false (no terminal, `--quiet`, `--json`): a Progress that never writes. */
export function createProgress(
  sink: Sink,
  terminal: { readonly enabled: boolean; readonly columns: number },
  clock: Clock,
): Progress {
  let shownAt = Number.NEGATIVE_INFINITY;
  let shown = false;
  return {
    time: new TimeTally(clock),
    update(text) {
      if (!terminal.enabled || clock.monotonic() - shownAt < 100) return;
      shownAt = clock.monotonic();
      shown = true;
      sink.write(`\r\x1b[2K${escapeTerminal(text).slice(0, Math.max(1, terminal.columns - 1))}`);
    },
    clear() {
      if (!shown) return;
      shown = false;
      shownAt = Number.NEGATIVE_INFINITY;
      sink.write('\r\x1b[2K');
    },
  };
}

const members = { base: 'baseMs', footprint: 'footprintMs', second: 'secondMs' } as const;

/** Adds up the commands of checks. Some run side by side, so the sum may be more than the whole. */
export class TimeTally {
  readonly #clock: Clock;
  readonly #since: number;
  readonly #sums = { checksMs: 0, baseMs: 0, footprintMs: 0, secondMs: 0 };
  #running = 0;
  #ran = 0;
  #busySince = 0;
  #busyMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.monotonic();
  }

  started(): void {
    if (this.#running === 0) this.#busySince = this.#clock.monotonic();
    this.#running += 1;
    this.#ran += 1;
  }

  settled(purpose: ToolRequest['purpose'], durationMs: number): void {
    this.#running -= 1;
    if (this.#running === 0) this.#busyMs += this.#clock.monotonic() - this.#busySince;
    this.#sums[purpose === undefined ? 'checksMs' : members[purpose]] += durationMs;
  }

  /** `undefined` if no command ran. */
  spent(): TimeSpent | undefined {
    if (this.#ran === 0) return undefined;
    const totalMs = this.#clock.monotonic() - this.#since;
    const parts = { ...this.#sums, otherMs: totalMs - this.#busyMs, totalMs };
    return Object.fromEntries(
      Object.entries(parts).map(([name, ms]) => [name, Math.max(0, Math.round(ms))]),
    ) as unknown as TimeSpent;
  }
}
