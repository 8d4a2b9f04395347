import type { Clock } from '../../core/base/clock.ts';

/** How long a step has worked: while it waits for an answer it does not. */
export interface WorkTime {
  /** Milliseconds since it was asked last. */
  take(): number;
  /** Waiting for this is no work. */
  waiting<T>(answer: Promise<T>): Promise<T>;
  /** Whether it waits now. */
  isWaiting(): boolean;
}

export function openWorkTime({ monotonic }: Pick<Clock, 'monotonic'>): WorkTime {
  let since = monotonic();
  let worked = 0;
  let waits = 0;
  const pass = (): void => {
    const now = monotonic();
    if (waits === 0) worked += now - since;
    since = now;
  };
  return {
    take() {
      pass();
      const taken = Math.floor(worked);
      worked -= taken;
      return taken;
    },
    async waiting(answer) {
      pass();
      waits += 1;
      try {
        return await answer;
      } finally {
        pass();
        waits -= 1;
      }
    },
    isWaiting: () => waits > 0,
  };
}
