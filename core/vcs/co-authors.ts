import type { Identity } from './identity.ts';
import { readMailboxes } from './mailbox.ts';

/** Whom a commit message names with `Co-authored-by:`, wherever in it. */
export function coAuthorsIn(message: string): readonly Identity[] {
  return message
    .split(/\r?\n/)
    .flatMap((line) => (/^co-authored-by:/i.test(line) ? readMailboxes(line.slice(15)) : []));
}
