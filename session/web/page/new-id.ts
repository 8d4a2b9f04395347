/** An id that nobody guesses: of this page, of one message. Made where only the page itself can read it. */
export const newId = (): string => crypto.randomUUID();
