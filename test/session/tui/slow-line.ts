import { instant } from '../../waiting/instant.ts';

export interface SlowLine {
  readonly delayMs: number;
  /** Octets of each piece that arrives by itself, in turn; as much as comes at once where there are none. */
  readonly sizes?: readonly number[];
  /** Between two pieces of what was sent at once. */
  readonly gapMs?: number;
}

/** A line to another machine: octets arrive late, in order, and cut where no key ends. */
export function slowLine({ delayMs, sizes = [], gapMs = 0 }: SlowLine) {
  return (deliver: (bytes: Uint8Array) => void): ((bytes: Uint8Array) => void) => {
    let cuts = 0;
    let last: Promise<void> = Promise.resolve();
    const later = (bytes: Uint8Array, atMs: number): void => {
      last = last.then(async () => {
        await instant(Math.max(0, atMs - performance.now()));
        deliver(bytes);
      });
    };
    return (bytes) => {
      let dueMs = performance.now() + delayMs;
      for (let at = 0; at < bytes.length; ) {
        const size = sizes[cuts++ % Math.max(1, sizes.length)] ?? bytes.length;
        later(bytes.subarray(at, at + size), dueMs);
        at += size;
        dueMs += gapMs;
      }
    };
  };
}
