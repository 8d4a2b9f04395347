import { coAuthorsIn } from './co-authors.ts';
import { type GitDirectory, isGitFault, runGit } from './git.ts';
import type { Identity } from './identity.ts';
import { formatIdentity } from './mailbox.ts';

/** Who had a hand in some commits; each once, in the order of the commits, newest first. */
export interface People {
  /** Authors, and whom a message names with `Co-authored-by:`. */
  readonly authors: readonly Identity[];
  readonly committers: readonly Identity[];
}

/**
 * Authors, co-authors and committers of the commits in `from..to`; `from` undefined means the whole history.
 * GIT_FAILED.
 */
export async function listPeople(place: GitDirectory, from: string | undefined, to: string): Promise<People> {
  const listed = await runGit(place, [
    'log',
    '-z',
    '--no-show-signature',
    '--no-use-mailmap',
    '--encoding=UTF-8',
    '--format=%an%x00%ae%x00%cn%x00%ce%x00%B',
    '--end-of-options',
    from === undefined ? to : `${from}..${to}`,
    '--',
  ]);
  const fields = listed.toString('utf8').split('\0');
  const authors: Identity[] = [];
  const committers: Identity[] = [];
  for (let at = 0; at + 4 < fields.length; at += 5) {
    const [an = '', ae = '', cn = '', ce = '', message = ''] = fields.slice(at, at + 5);
    authors.push({ name: an, email: ae }, ...coAuthorsIn(message));
    committers.push({ name: cn, email: ce });
  }
  return { authors: eachOnce(authors), committers: eachOnce(committers) };
}

/** The same, and nobody where the commits are not all here: others may know them. */
export async function listPeopleHere(
  place: GitDirectory,
  from: string | undefined,
  to: string,
): Promise<People> {
  try {
    return await listPeople(place, from, to);
  } catch (fault) {
    if (isGitFault(fault)) return { authors: [], committers: [] };
    throw fault;
  }
}

function eachOnce(people: readonly Identity[]): readonly Identity[] {
  return [...new Map(people.map((one) => [formatIdentity(one), one] as const)).values()];
}
