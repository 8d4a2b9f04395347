import { type Clock, toRfc3339 } from '../../core/base/clock.ts';
import type { CheckTime } from '../../core/interfaces/stage.ts';

/** What the wall clock may differ from the other by before it was set: clocks are slewed by a few milliseconds. */
const leastStepMs = 1000;

/** By the wall clock, and by the one that never steps back. */
interface Moment {
  readonly wall: number;
  readonly even: number;
}

/**
 * Measures the time of one check. Durations use the monotonic clock, so they are never negative. If the wall clock
 * was set meanwhile, the result includes the step.
 */
export class CheckWatch {
  readonly #clock: Clock;
  #workspaceMs = 0;
  /** When the check was requested, or its last workspace was ready. */
  #ready: Moment;
  /** When its first command began. */
  #began: Moment | undefined;
  #time: Omit<CheckTime, 'workspaceMs'> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#ready = this.#now();
  }

  /** Makes a workspace. Counted by itself until the first command began. */
  async making<T>(make: () => Promise<T>): Promise<T> {
    const from = this.#now();
    try {
      return await make();
    } finally {
      this.#ready = this.#now();
      if (this.#began === undefined) this.#workspaceMs += this.#ready.even - from.even;
    }
  }

  /** Runs a command: the time goes from where the first one began to where the last one ended. */
  async running<T>(run: () => Promise<T>): Promise<T> {
    this.#began ??= this.#now();
    const began = this.#began;
    try {
      return await run();
    } finally {
      this.#time = this.#since(began);
    }
  }

  /** Returns the duration of the commands, or the time until now if it ran none. */
  read(): CheckTime {
    const time = this.#time ?? this.#since(this.#ready);
    return this.#workspaceMs === 0 ? time : { ...time, workspaceMs: Math.round(this.#workspaceMs) };
  }

  #now(): Moment {
    return { wall: this.#clock.now(), even: this.#clock.monotonic() };
  }

  #since({ wall, even }: Moment): CheckTime {
    const lasted = Math.max(0, this.#clock.monotonic() - even);
    const step = this.#clock.now() - wall - lasted;
    return {
      startedAt: toRfc3339(wall),
      durationMs: Math.round(lasted),
      ...(Math.abs(step) < leastStepMs ? {} : { clockStepMs: Math.round(step) }),
    };
  }
}
