/* Reads people, messages and trailers of commits with `git log`, and the identity of the user. */
import { askGit, type GitDirectory, gitFields, isGitFault } from './git.ts';
import { coAuthorsIn, formatIdentity, type Identity } from './identity.ts';
import type { Repository } from './repository.ts';

export interface RangeCommit {
  readonly author: Identity;
  /** Epoch seconds. */
  readonly authoredAt: number;
  readonly message: string;
}

const maxCommits = 5000;

/** The commits of `from..to`, oldest first; of a longer range the newest 5,000. */
export async function rangeCommits(
  place: GitDirectory,
  from: string,
  to: string,
): Promise<readonly RangeCommit[]> {
  const records = await readLog(
    place,
    ['%an', '%ae', '%at', '%B'],
    [`--max-count=${maxCommits}`, '--end-of-options', to, `^${from}`],
  );
  return records
    .map(([name = '', email = '', seconds = '', message = '']) => ({
      author: { name, email },
      authoredAt: Number(seconds),
      message,
    }))
    .reverse();
}

/** The fields of each commit that `git log` lists. A message (`%B`) ends at NUL, and no other field can hold one. */
async function readLog(
  place: GitDirectory,
  fields: readonly string[],
  args: readonly string[],
  paths: readonly string[] = [],
): Promise<readonly (readonly string[])[]> {
  const fixed = ['log', '-z', '--no-show-signature', '--no-use-mailmap', '--encoding=UTF-8'];
  const format = `--format=${fields.join('%x00')}`;
  const values = await gitFields(place, [...fixed, format, ...args, '--', ...paths]);
  const records: string[][] = [];
  for (let at = 0; at + fields.length <= values.length; at += fields.length)
    records.push(values.slice(at, at + fields.length));
  return records;
}

interface TouchingCommit {
  readonly commit: string;
  /** From the trailer, which anyone can write. */
  readonly runId?: string;
}

const runTrailer = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** The newest `most` commits of `from..to` that changed one of these files. */
export async function commitsTouching(
  place: GitDirectory,
  { from, to, most }: { readonly from: string; readonly to: string; readonly most: number },
  paths: readonly string[],
): Promise<readonly TouchingCommit[]> {
  if (paths.length === 0) return [];
  const args = [`--max-count=${most}`, '--end-of-options', to, `^${from}`];
  const trailer = '%(trailers:key=Run-Id,valueonly,separator=%x20)';
  const records = await readLog(place, ['%H', trailer], args, paths);
  return records.map(([commit = '', trailers = '']) => {
    const [runId = ''] = trailers.split(' ');
    return runTrailer.test(runId) ? { commit, runId } : { commit };
  });
}

interface SealedWords {
  readonly parents: readonly string[];
  /** The last trailer of that name; `undefined` if there is none. */
  readonly runId: string | undefined;
  readonly specDigest: string | undefined;
}

/** Parents and trailers of a commit. GIT_FAILED if there is none. */
export async function sealedWords(repository: Repository, commit: string): Promise<SealedWords> {
  const [fields = []] = await readLog(repository, ['%P', '%B'], ['-1', '--end-of-options', commit]);
  const [parents = '', message = ''] = fields;
  const lastOf = (name: string): string | undefined =>
    message
      .split('\n')
      .findLast((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return {
    parents: parents.split(' ').filter((one) => one !== ''),
    runId: lastOf('Run-Id'),
    specDigest: lastOf('Intentspec-Digest')?.replace(/^sha256:/, ''),
  };
}

/** Each identity once, in the order of the commits, newest first. */
interface People {
  /** Authors, and everyone named by `Co-authored-by:`. */
  readonly authors: readonly Identity[];
  readonly committers: readonly Identity[];
}

/**
 * Authors, co-authors and committers of the commits in `from..to`; `from` undefined means the whole history.
 * GIT_FAILED.
 */
export async function listPeople(place: GitDirectory, from: string | undefined, to: string): Promise<People> {
  const range = from === undefined ? to : `${from}..${to}`;
  const authors: Identity[] = [];
  const committers: Identity[] = [];
  const fields = ['%an', '%ae', '%cn', '%ce', '%B'];
  for (const [an = '', ae = '', cn = '', ce = '', message = ''] of await readLog(place, fields, [
    '--end-of-options',
    range,
  ])) {
    authors.push({ name: an, email: ae }, ...coAuthorsIn(message));
    committers.push({ name: cn, email: ce });
  }
  return { authors: eachOnce(authors), committers: eachOnce(committers) };
}

/** `listPeople`, but empty if some of the commits are not in this clone. */
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

const identities = new WeakMap<Repository, Promise<Identity | undefined>>();

/** The user's git identity; read once while a process works on a run. */
export function identityOf(repository: Repository): Promise<Identity | undefined> {
  const known = identities.get(repository) ?? readIdentity(repository);
  identities.set(repository, known);
  return known;
}

/** The git identity of the user (config or environment); `undefined` if git would not commit with any. */
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
