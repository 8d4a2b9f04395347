/** Milliseconds since the epoch by the clock of the browser. */
export const now = (): number => Date.now();
