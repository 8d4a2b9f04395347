import { askGit, type GitDirectory } from './git.ts';

/** Who a commit is by. */
export interface Identity {
  readonly name: string;
  readonly email: string;
}

/**
 * A name and an address that git takes and no reader mistakes: one line each, without brackets, cut; a name that is
 * nothing is `unknown`.
 */
export function plainIdentity({ name, email }: Identity): Identity {
  const plain = (text: string, max: number): string =>
    [...text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029<>]+/gu, ' ')].slice(0, max).join('').trim();
  const shown = plain(name, 200);
  return {
    // Git strips these at the ends, and refuses what is left empty.
    name: /[^\s.,:;"\\']/.test(shown) ? shown : 'unknown',
    email: plain(email, 254).replace(/\s/g, ''),
  };
}

/** The person's git identity (config or environment), `undefined` where git knows none that it would commit with. */
export async function readIdentity(place: GitDirectory): Promise<Identity | undefined> {
  const { code, stdout } = await askGit(place, [
    '-c',
    'user.useConfigOnly=true',
    'var',
    'GIT_COMMITTER_IDENT',
  ]);
  if (code !== 0) return undefined;
  const found = /^(.*?) ?<([^<>]*)> \d+ [+-]\d{4}$/.exec(stdout.toString('utf8').trim());
  const [, name = '', email = ''] = found ?? [];
  return name === '' || email === '' ? undefined : { name, email };
}

/**
 * Names and addresses of the authors and committers of `base..tip`, without repeats; `base` undefined means the whole
 * history.
 */
export async function identitiesOf(
  place: GitDirectory,
  base: string | undefined,
  tip: string,
): Promise<readonly Identity[]> {
  const range = base === undefined ? [tip] : [tip, `^${base}`];
  const { stdout } = await askGit(place, [
    'log',
    '-z',
    '--no-show-signature',
    '--no-use-mailmap',
    '--format=%an%x00%ae%x00%cn%x00%ce',
    '--end-of-options',
    ...range,
  ]);
  const fields = stdout.toString('utf8').split('\0');
  const found = new Map<string, Identity>();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const identity = { name: fields[at] ?? '', email: fields[at + 1] ?? '' };
    found.set(`${identity.name}\0${identity.email}`, identity);
  }
  return [...found.values()];
}
