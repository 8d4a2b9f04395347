import type { Clock } from '../../base/clock.ts';

/**
 * A thread costs 20 to 50 MB, and loads anew what the others have loaded: that takes as long as all rules of a small
 * change. So one works alone until a task has waited this long.
 */
const patienceMs = 300;

/** Which tasks may run now. */
export interface Admission {
  /**
   * Waits, in order of asking, for a free place; false where `signal` came first. Who hurries waits only where there
   * can be no more places.
   */
  enter(signal: AbortSignal, hurries?: boolean): Promise<boolean>;
  /** Gives a place back; once for each `true`. */
  exit(): void;
}

/** One place, and one more, up to `most`, for each task that hurries or has waited for 300 ms. */
export function createAdmission(most: number, clock: Clock): Admission {
  const waiting: (() => void)[] = [];
  let places = 1;
  let free = places;
  return {
    enter: (signal, hurries = false) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(false);
        if (free > 0) {
          free--;
          return resolve(true);
        }
        if (hurries && places < most) {
          places++;
          return resolve(true);
        }
        const settled = new AbortController();
        const settle = (isAdmitted: boolean) => {
          settled.abort();
          signal.removeEventListener('abort', leave);
          resolve(isAdmitted);
        };
        const admit = () => settle(true);
        const withdraw = () => waiting.splice(waiting.indexOf(admit), 1);
        const leave = () => {
          withdraw();
          settle(false);
        };
        waiting.push(admit);
        signal.addEventListener('abort', leave, { once: true });
        if (places >= most) return;
        clock.sleep(patienceMs, settled.signal).then(
          () => {
            if (settled.signal.aborted || places >= most) return;
            places++;
            withdraw();
            admit();
          },
          () => {},
        );
      }),
    exit() {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}
