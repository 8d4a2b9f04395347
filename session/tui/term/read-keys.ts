import type { Clock } from '../../../core/base/clock.ts';
import { type DecodeState, decodeKeys, expireKeys, noKeys, type Undecided } from './decode-keys.ts';
import type { Key } from './key.ts';

/** Milliseconds without an octet after which what is undecided is decided. */
export type Patience = Readonly<Record<Undecided, number>>;

/**
 * An Escape is one when nothing follows at once; what has begun as a sequence is waited for as long as a slow line may
 * need between two of its parts; a paste that stands still so long has lost its end.
 */
export const usualPatience: Patience = { escape: 40, sequence: 1000, paste: 5000 };

export interface KeyReader {
  feed(bytes: Uint8Array): void;
  /** Nothing is told from then on. */
  stop(): void;
}

/** Tells the keys that octets are, as soon as that is certain, in order. */
export function readKeys(
  clock: Clock,
  told: (keys: readonly Key[]) => void,
  patience: Patience = usualPatience,
): KeyReader {
  let state: DecodeState = noKeys;
  let waiting = new AbortController();
  let stopped = false;
  const wait = (undecided: Undecided): void => {
    const { signal } = waiting;
    clock.sleep(patience[undecided], signal).then(
      () => {
        if (signal.aborted || stopped) return;
        const expired = expireKeys(state);
        state = expired.state;
        if (expired.keys.length > 0) told(expired.keys);
      },
      () => {},
    );
  };
  return {
    feed: (bytes) => {
      if (stopped) return;
      waiting.abort();
      waiting = new AbortController();
      const decoded = decodeKeys(state, bytes);
      state = decoded.state;
      if (decoded.undecided !== undefined) wait(decoded.undecided);
      if (decoded.keys.length > 0) told(decoded.keys);
    },
    stop: () => {
      stopped = true;
      waiting.abort();
    },
  };
}
