/* The progress line on stderr. */
import type { Clock } from '../../core/base/clock.ts';
import { escapeTerminal, type Sink } from './print.ts';

/** One line on stderr that is rewritten in place. Without a terminal, calls have no effect. */
export interface Progress {
  /** What is going on now; at most ten redraws a second. */
  update(text: string): void;
  /** Erases the line; call before printing anything else to stderr. */
  clear(): void;
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
