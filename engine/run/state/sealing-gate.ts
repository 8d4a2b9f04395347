/** Between sealing a run and letting go of it: whichever begins first keeps the other from beginning. */
export interface SealingGate {
  /** From here on nobody's request to cancel stops this process. Throws the reason where one has stopped it already. */
  beginSealing(): void;
  /** Stops the work for this reason; nothing where sealing has begun. */
  letGo(reason: Error): void;
  /** Aborts when the work is stopped. */
  readonly signal: AbortSignal;
}

/** A gate that nobody has passed. */
export function openSealingGate(): SealingGate {
  const stop = new AbortController();
  let isSealing = false;
  return {
    signal: stop.signal,
    beginSealing() {
      stop.signal.throwIfAborted();
      isSealing = true;
    },
    letGo(reason) {
      if (!isSealing) stop.abort(reason);
    },
  };
}
