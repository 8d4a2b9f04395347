/* People, messages and trailers of commits, and the identity of the user. */
import { askGit, type GitDirectory, gitFields, isGitFault } from './git.ts';
import type { Repository } from './repository.ts';

export interface Identity {
  readonly name: string;
  readonly email: string;
}

/**
 * An identity that git accepts and no reader misreads: one line each, without brackets, cut to a length; an empty
 * name becomes `unknown`.
 */
export function plainIdentity({ name, email }: Identity): Identity {
  const plain = (text: string, max: number): string =>
    [...text.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029<>]+/gu, ' ')].slice(0, max).join('').trim();
  const shown = plain(name, 200);
  return {
    // Git strips these at both ends, and refuses an empty result.
    name: /[^\s.,:;"\\']/.test(shown) ? shown : 'unknown',
    email: plain(email, 254).replace(/\s/g, ''),
  };
}

const maxText = 65_536;
const maxPart = 500;

/**
 * Every mailbox in the value of a `From:` or a trailer, with RFC 2047 words decoded. An entry without an address is
 * skipped.
 */
export function readMailboxes(value: string): readonly Identity[] {
  return splitMailboxes(value.slice(0, maxText)).flatMap((text) => {
    const one = readMailbox(text);
    return one ? [one] : [];
  });
}

/** `Name <mail>`, as git shows an identity. */
export function formatIdentity({ name, email }: Identity): string {
  return `${name} <${email}>`;
}

/** The identity in `Name <mail>`; `undefined` without an address. */
export function readMailbox(text: string): Identity | undefined {
  const angle = /^([^<>]*)<([^<>]*)>/.exec(text);
  const email = cleaned(
    angle
      ? (angle[2] ?? '').replace(/[<>]/g, '')
      : (/[^\s<>(),;"]{1,320}@[^\s<>(),;"]{1,320}/.exec(text)?.[0] ?? ''),
  );
  if (!isNamed(email)) return undefined;
  const stated = angle ? (angle[1] ?? '') : (/\(([^()]*)\)/.exec(text)?.[1] ?? '');
  const name = cleaned(decodeWords(stated).replace(/["\\<>]/g, ''));
  return { name: isNamed(name) ? name : email, email };
}

/** Git strips all other characters from both ends, and refuses an empty name. */
function isNamed(text: string): boolean {
  return /[^\0- .,:;<>"\\']/.test(text);
}

function splitMailboxes(text: string): readonly string[] {
  const parts: string[] = [];
  let part = '';
  let quoted = false;
  let angled = false;
  for (const char of text) {
    if (char === '"') quoted = !quoted;
    else if (!quoted && char === '<') angled = true;
    else if (!quoted && char === '>') angled = false;
    if (char === ',' && !quoted && !angled) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  return [...parts, part];
}

function cleaned(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, maxPart)
    .toWellFormed();
}

/** RFC 2047 encoded words; what cannot be decoded stays as it is. */
function decodeWords(text: string): string {
  return text
    .replace(/(=\?[^?\s]{1,40}\?[bq]\?[^?\s]*\?=)[ \t]+(?==\?)/gi, '$1')
    .replace(
      /=\?([^?\s]{1,40})\?([bq])\?([^?\s]*)\?=/gi,
      (word, charset: string, form: string, data: string) => {
        const bytes =
          form.toLowerCase() === 'b'
            ? Buffer.from(data, 'base64')
            : Buffer.from(
                data
                  .replace(/_/g, ' ')
                  .replace(/=([0-9a-f]{2})/gi, (_, hex: string) =>
                    String.fromCharCode(Number.parseInt(hex, 16)),
                  ),
                'latin1',
              );
        try {
          return new TextDecoder(charset).decode(bytes);
        } catch {
          return word;
        }
      },
    );
}

/** Everyone that a commit message names with `Co-authored-by:`. */
export function coAuthorsIn(message: string): readonly Identity[] {
  // As git reads trailers: blanks before the colon are allowed, and a line that begins with a blank continues the one
  // before.
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

export interface RangeCommit {
  readonly author: Identity;
  /** Epoch seconds. */
  readonly authoredAt: number;
  /** Time zone of the author: `+0530`. */
  readonly zone?: string;
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
    ['%an', '%ae', '%ad', '%B'],
    [`--max-count=${maxCommits}`, '--end-of-options', to, `^${from}`],
  );
  return records
    .map(([name = '', email = '', date = '', message = '']) => {
      const [seconds, zone = ''] = date.split(' ');
      return { author: { name, email }, authoredAt: Number(seconds), zone, message };
    })
    .reverse();
}

/** The fields of each commit that `git log` lists. A message (`%B`) ends at NUL, and no other field can hold one. */
async function readLog(
  place: GitDirectory,
  fields: readonly string[],
  args: readonly string[],
  paths: readonly string[] = [],
): Promise<readonly (readonly string[])[]> {
  const fixed = ['log', '-z', '--date=raw', '--no-show-signature', '--no-use-mailmap', '--encoding=UTF-8'];
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
