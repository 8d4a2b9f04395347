/* Resolves revisions to commits, trees and ancestors. */
import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { askGit, type GitDirectory, gitLine, isGitFault, tryGit } from './git.ts';
import { parseCommit } from './git-object.ts';
import { describeObjects, readObjects } from './read-objects.ts';
import { type ListedRef, readHeadFile } from './ref-files.ts';
import { matchRefs } from './refs.ts';
import { emptyTreeOf, isObjectId, isShallow, type Repository, resolveId } from './repository.ts';

/** A commit and its tree; without a commit, the empty tree of an unborn branch. */
export interface Base {
  readonly commit: string | undefined;
  readonly tree: string;
}

const maxRefLength = 1024;

/**
 * The commit that a branch, tag, id or revision expression names, as a full id. REF_NOT_FOUND; REF_INVALID for a
 * range, control characters and anything that looks like an option.
 */
export async function resolveCommit(
  place: GitDirectory & Pick<Repository, 'commonDir'>,
  ref: string,
): Promise<string> {
  const shown = printable(ref);
  if (!isRevision(ref)) {
    throw new WritError('REF_INVALID', {
      message: `\`${shown}\` is not a valid ref`,
      detail: { ref: shown },
    });
  }
  const [found] = await describeObjects(place, [`${ref}^{commit}`]);
  if (found?.type !== 'commit')
    throw new WritError('REF_NOT_FOUND', {
      message: `\`${shown}\` names no commit`,
      detail: { ref: shown },
      hints: shallowHints(place),
    });
  return found.id;
}

/** A hint for a shallow clone; empty for any other repository. */
export function shallowHints(place: Pick<Repository, 'commonDir'>): readonly string[] {
  return isShallow(place)
    ? ['this clone is shallow; fetch the rest of its history: `git fetch --unshallow`']
    : [];
}

/** False for a form that `resolveCommit` refuses. */
export function isRevision(ref: string): boolean {
  return (
    ref !== '' &&
    ref.length <= maxRefLength &&
    !ref.startsWith('-') &&
    !/\p{Cc}/u.test(ref) &&
    !ref.includes('..') &&
    !ref.startsWith('^')
  );
}

/** `resolveCommit` with the tree. If HEAD is unborn, `HEAD` and its branch name the empty tree. */
export async function resolveBase(
  place: GitDirectory & Pick<Repository, 'commonDir'>,
  ref: string,
): Promise<Base> {
  try {
    const commit = await resolveCommit(place, ref);
    return { commit, tree: await treeOf(place, commit) };
  } catch (fault) {
    const head = await readHead(place);
    const names =
      head.branch === undefined ? [] : ['HEAD', head.branch, head.branch.replace(/^refs\/heads\//, '')];
    if (head.commit === undefined && names.includes(ref))
      return { commit: undefined, tree: emptyTreeOf(place) };
    throw fault;
  }
}

export async function treeOf(place: GitDirectory, commit: string): Promise<string> {
  const [tree] = await describeObjects(place, [`${commit}^{tree}`]);
  if (tree?.type === 'tree') return tree.id;
  throw new WritError('GIT_FAILED', {
    message: `the tree of \`${commit}\` cannot be read`,
    detail: { commit },
  });
}

/** No branch when detached, no commit when unborn. */
export async function readHead(
  place: GitDirectory,
): Promise<{ readonly branch: string | undefined; readonly commit: string | undefined }> {
  const read = readHeadFile(place);
  if (read !== undefined) {
    const [commit] = read.id === undefined ? [] : await describeObjects(place, [read.id]);
    if (read.id === undefined || commit?.type === 'commit') return { branch: read.branch, commit: read.id };
  }
  const branch = await tryGit(place, ['symbolic-ref', '--quiet', 'HEAD']);
  return { branch, commit: await resolveId(place, 'HEAD^{commit}') };
}

export async function mergeBase(
  place: GitDirectory,
  left: string,
  right: string,
): Promise<string | undefined> {
  const { code, stdout, stderr } = await askGit(place, ['merge-base', '--end-of-options', left, right]);
  if (code > 1)
    throw new WritError('GIT_FAILED', { detail: { command: 'merge-base', exitCode: code, stderr } });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

export async function isAncestor(place: GitDirectory, ancestor: string, commit: string): Promise<boolean> {
  const { code, stderr } = await askGit(place, [
    'merge-base',
    '--is-ancestor',
    '--end-of-options',
    ancestor,
    commit,
  ]);
  if (code > 1)
    throw new WritError('GIT_FAILED', { detail: { command: 'merge-base', exitCode: code, stderr } });
  return code === 0;
}

/**
 * A commit that a name can denote, and its unambiguous name: a full ref, an abbreviated id, or the expression itself.
 */
interface NamedCommit {
  readonly commit: string;
  readonly as: string;
}

/** git uses the first match and only warns about others. */
const places = ['refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'];
const maxIds = 16;

/**
 * Every commit that a name can denote, each once: the tag, the branch and the remote branch of that name, an id with
 * that prefix, and git's own choice. `HEAD` and `@` are unambiguous. `name` must satisfy `isRevision`.
 */
export async function commitsNamed(place: GitDirectory, name: string): Promise<readonly NamedCommit[]> {
  const cut = /[~^:]|@\{/.exec(name)?.index ?? name.length;
  const [base, suffix] = [name.slice(0, cut), name.slice(cut)];
  const own = await resolved(place, name);
  const isFixed = base === '' || base === '@' || base === 'HEAD';
  const isFull = base.startsWith('refs/') && (await refsCalled(place, [base])).length > 0;
  if (isFixed || isFull) return own;
  const refs = await refsCalled(place, [...places.map((at) => at + base), `refs/remotes/${base}/HEAD`]);
  const candidates = [
    ...refs.map(({ ref, object: id }) => ({
      as: `${ref}${suffix}`,
      // Upstreams and reflogs belong to a name, everything else to an object.
      expression: `${suffix.startsWith('@{') ? ref : id}${suffix}^{commit}`,
    })),
    ...(await idsLike(place, base)).map((id) => ({
      as: `${id}${suffix}`,
      expression: `${id}${suffix}^{commit}`,
    })),
  ];
  const heads = await describeObjects(
    place,
    candidates.map(({ expression }) => expression),
  );
  const found = new Map<string, NamedCommit>();
  for (const [n, { as }] of candidates.entries()) {
    const head = heads[n];
    if (head?.type === 'commit' && !found.has(head.id)) found.set(head.id, { commit: head.id, as });
  }
  for (const one of own) if (!found.has(one.commit)) found.set(one.commit, one);
  return [...found.values()];
}

async function resolved(place: GitDirectory, name: string): Promise<readonly NamedCommit[]> {
  try {
    const [head] = await describeObjects(place, [`${name}^{commit}`]);
    return head?.type === 'commit' ? [{ commit: head.id, as: name }] : [];
  } catch (fault) {
    // cat-file fails for a damaged object; rev-parse only reports that there is none.
    if (!isGitFault(fault)) throw fault;
  }
  const commit = await resolveId(place, `${name}^{commit}`);
  return commit === undefined ? [] : [{ commit, as: name }];
}

/** The id that a name resolves to if that object has the type commit, but git cannot parse it. */
export async function damagedCommit(place: GitDirectory, name: string): Promise<string | undefined> {
  if (!isRevision(name)) return undefined;
  const id = await resolveId(place, name);
  if (id === undefined) return undefined;
  const [head] = await describeObjects(place, [id]);
  return head?.type === 'commit' ? id : undefined;
}

async function refsCalled(place: GitDirectory, names: readonly string[]): Promise<readonly ListedRef[]> {
  return (await matchRefs(place, names)).filter(({ ref }) => names.includes(ref));
}

/** Commits and tags with ids that have this prefix, or the prefix at the end of a `git describe` name. */
async function idsLike(place: GitDirectory, base: string): Promise<readonly string[]> {
  const prefix = /^(?:.+-\d+-g)?([0-9a-f]{4,64})$/i.exec(base)?.[1];
  if (prefix === undefined) return [];
  const listed = await tryGit(place, ['rev-parse', `--disambiguate=${prefix.toLowerCase()}`]);
  const ids = (listed ?? '').split('\n').filter(isObjectId);
  const heads = await describeObjects(place, ids.slice(0, 1000));
  return heads
    .flatMap((head) => (head?.type === 'commit' || head?.type === 'tag' ? [head.id] : []))
    .slice(0, maxIds);
}

export async function countCommits(place: GitDirectory, from: string, to: string): Promise<number> {
  const counted = await gitLine(place, ['rev-list', '--count', '--end-of-options', to, `^${from}`]);
  return Number(counted);
}

/** The tree of the first parent, read from the commit itself; the empty tree if it has no parent. */
export async function parentTree(place: GitDirectory, commit: string): Promise<string> {
  const [object] = await readObjects(place, [commit]);
  const parent = object && parseCommit(object.bytes)?.parents[0];
  return parent === undefined ? emptyTreeOf(place) : treeOf(place, parent);
}

/** Committer time of a commit, epoch milliseconds. */
export async function commitTimeMs(place: GitDirectory, commit: string): Promise<number> {
  const [object] = await readObjects(place, [`${commit}^{commit}`]);
  const [header = ''] = object?.bytes.toString('utf8').split('\n\n', 1) ?? [];
  const text = /^committer [^\n]*> (-?\d+) [+-]\d+$/m.exec(header)?.[1] ?? '';
  const seconds = Number(text);
  if (text === '' || !Number.isSafeInteger(seconds * 1000)) {
    throw new WritError('GIT_FAILED', {
      message: `the committer time of \`${commit}\` cannot be read`,
      detail: { commit },
    });
  }
  return seconds * 1000;
}
