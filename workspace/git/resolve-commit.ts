import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { describeObjects } from './blobs.ts';
import { askGit, type GitDirectory } from './git.ts';
import { readHeadFile } from './ref-files.ts';
import { emptyTreeOf } from './repository.ts';

/** A commit and its tree; without a commit, the empty tree of an unborn branch. */
export interface Base {
  readonly commit: string | undefined;
  readonly tree: string;
}

const maxRefLength = 1024;

/**
 * The commit that a branch, tag, id or revision expression names, as a full id. Refuses with REF_NOT_FOUND; with
 * REF_INVALID whatever looks like an option, holds control characters or is a range.
 */
export async function resolveCommit(place: GitDirectory, ref: string): Promise<string> {
  const shown = printable(ref);
  if (!isRevision(ref)) {
    throw new WritError('REF_INVALID', {
      message: `\`${shown}\` is not a usable ref`,
      detail: { ref: shown },
    });
  }
  const [found] = await describeObjects(place, [`${ref}^{commit}`]);
  if (found?.type !== 'commit')
    throw new WritError('REF_NOT_FOUND', {
      message: `\`${shown}\` names no commit`,
      detail: { ref: shown },
      hints: await shallowHints(place),
    });
  return found.id;
}

/** What to do if history is missing because the clone is shallow; nothing in any other repository. */
export async function shallowHints(place: GitDirectory): Promise<readonly string[]> {
  const { code, stdout } = await askGit(place, ['rev-parse', '--is-shallow-repository']);
  const isShallow = code === 0 && stdout.toString('utf8').trim() === 'true';
  return isShallow ? ['this clone is shallow; fetch the rest of its history: `git fetch --unshallow`'] : [];
}

/** False for what `resolveCommit` refuses by its form. */
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

/**
 * `resolveCommit` with the tree; where HEAD is unborn, `HEAD` and its branch stand for the empty tree (4-resolutions,
 * Target ref).
 */
export async function resolveBase(place: GitDirectory, ref: string): Promise<Base> {
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

/** The tree of a commit. */
export async function treeOf(place: GitDirectory, commit: string): Promise<string> {
  const [tree] = await describeObjects(place, [`${commit}^{tree}`]);
  if (tree?.type === 'tree') return tree.id;
  throw new WritError('GIT_FAILED', {
    message: `the tree of \`${commit}\` cannot be read`,
    detail: { commit },
  });
}

/** Where HEAD stands: no branch when detached, no commit when unborn. */
export async function readHead(
  place: GitDirectory,
): Promise<{ readonly branch: string | undefined; readonly commit: string | undefined }> {
  const read = await readHeadFile(place);
  if (read !== undefined) {
    const [commit] = read.id === undefined ? [] : await describeObjects(place, [read.id]);
    if (read.id === undefined || commit?.type === 'commit') return { branch: read.branch, commit: read.id };
  }
  const symbolic = await askGit(place, ['symbolic-ref', '--quiet', 'HEAD']);
  const commit = await askGit(place, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    'HEAD^{commit}',
  ]);
  return {
    branch: symbolic.code === 0 ? symbolic.stdout.toString('utf8').trim() : undefined,
    commit: commit.code === 0 ? commit.stdout.toString('utf8').trim() : undefined,
  };
}

/** The best common ancestor, `undefined` where there is none. */
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

/** True where `ancestor` is reachable from `commit` (a commit is its own ancestor). */
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
