/** The last events of a stream, for whoever comes back and says which one it saw last. */
export interface ReplayRing {
  /** `make` is called when somebody wants the frame, and at most once. */
  add(seq: number, make: () => Uint8Array): () => Uint8Array;
  /** The frames behind event `seq`; `undefined` where the ring does not hold all of them. */
  after(seq: number): readonly Uint8Array[] | undefined;
}

/** Bounds of what is kept, and so of how far anybody may be behind (resolutions, Events). */
const ringLimits = { events: 256, bytes: 8 * 1024 * 1024 } as const;

interface Kept {
  readonly seq: number;
  /** What it is made of is let go of once it is made. */
  made: Uint8Array | (() => Uint8Array);
}

/** An empty ring of a stream whose last event was `start`, by number. */
export function createReplayRing(
  start: number,
  limits: { readonly events: number; readonly bytes: number } = ringLimits,
): ReplayRing {
  let kept: Kept[] = [];
  let last = start;
  const made = (one: Kept): Uint8Array => {
    if (typeof one.made === 'function') one.made = one.made();
    return one.made;
  };
  const trim = (): void => {
    let bytes = 0;
    const tooOld = kept.findLastIndex((one) => {
      bytes += typeof one.made === 'function' ? 0 : one.made.length;
      return bytes > limits.bytes;
    });
    kept = kept.slice(Math.max(tooOld + 1, kept.length - limits.events));
  };
  return {
    add: (seq, make) => {
      const one: Kept = { seq, made: make };
      kept.push(one);
      last = seq;
      trim();
      return () => made(one);
    },
    after: (seq) => {
      const from = kept.findIndex((one) => one.seq > seq);
      if (seq > last || seq < (kept[0]?.seq ?? last + 1) - 1) return undefined;
      if (from < 0) return [];
      const frames: Uint8Array[] = [];
      let bytes = 0;
      // From the newest on: however much there is, no more is made than may be sent.
      for (const one of kept.slice(from).reverse()) {
        frames.push(made(one));
        bytes += made(one).length;
        if (bytes > limits.bytes) {
          trim();
          return undefined;
        }
      }
      return frames.reverse();
    },
  };
}
