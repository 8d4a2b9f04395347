import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../core/base/clock.ts';

/** How long one turn may hold the event loop, ms. */
const turnMs = 3;

/** A long piece of work in turns: when one is `over`, `rest` lets everybody else come first and begins the next. */
export class Turn {
  #since = systemClock.monotonic();

  get over(): boolean {
    return systemClock.monotonic() - this.#since > turnMs;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#since = systemClock.monotonic();
  }
}
