import type { Authorship } from '../../store/record/authorship.ts';
import type { Identity } from '../../vcs/identity.ts';
import { readMailbox } from '../../vcs/mailbox.ts';
import type { CommitWording } from '../state/commit-wording.ts';

/** Authors of a very long range: the record of the run names them all. */
const maxCoAuthors = 1000;

/**
 * Author and co-authors of a sealed commit: who made the change, each once by address. Who seals it is its author only
 * where nobody else is known.
 */
export function sealedPeople(
  wording: CommitWording,
  { authors, broughtBy }: Authorship,
  sealer: Identity,
): { readonly author: Identity; readonly coAuthors: readonly Identity[] } {
  const named = [...authors, ...(broughtBy === undefined ? [] : [broughtBy])].flatMap(
    (text) => readMailbox(text) ?? [],
  );
  const author = wording.author ?? named[0] ?? sealer;
  const others = new Map<string, Identity>();
  for (const one of [...(wording.coAuthors ?? []), ...named]) {
    const address = one.email.toLowerCase();
    if (!others.has(address)) others.set(address, one);
  }
  others.delete(author.email.toLowerCase());
  return { author, coAuthors: [...others.values()].slice(0, maxCoAuthors) };
}
