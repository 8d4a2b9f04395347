import type { Identity } from './identity.ts';
import { readMailboxes } from './mailbox.ts';

/** Whom a commit message names with `Co-authored-by:`, wherever in it. */
export function coAuthorsIn(message: string): readonly Identity[] {
  // As git reads trailers: blanks before the colon, and lines that a blank begins belong to the one before.
  return message
    .replace(/\r?\n[ \t]+/g, ' ')
    .split(/\r?\n/)
    .flatMap((line) => {
      const colon = line.indexOf(':');
      return /^co-authored-by[ \t]*$/i.test(line.slice(0, Math.max(0, colon)))
        ? readMailboxes(line.slice(colon + 1))
        : [];
    });
}
