/* The clock and the random ids of the browser. */

export const now = (): number => Date.now();

/** An unpredictable id of this page or of one message. */
export const newId = (): string => crypto.randomUUID();
