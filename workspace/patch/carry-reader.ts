/* Reads from git what a verifier of approvals needs: the owners of changed paths, and earlier candidates. */
import { isWritError } from '../../core/base/errors.ts';
import type { CarryReader } from '../../core/interfaces/approval.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { carriesApprovals, groupsIn } from '../../engine/config/table-reader.ts';
import { ownedPathsIn, ownersPath, parseOwners } from '../../readers/diff/owned-paths.ts';
import { askGit, gitFailed } from '../git/git.ts';
import { describeObjects, readObjects } from '../git/read-objects.ts';
import { isObjectId, type Repository } from '../git/repository.ts';
import { treeOf } from '../git/resolve-commit.ts';
import { normalisePatch } from './normalise.ts';
import { inUndoScratch } from './undo.ts';

type Patch = Pick<PatchSet, 'digest' | 'files'>;

export function carryReader(repository: Repository): CarryReader {
  const isCommit = async (id: string): Promise<boolean> => {
    if (!isObjectId(id)) return false;
    const [found] = await describeObjects(repository, [id]);
    return found?.type === 'commit';
  };
  const known = new Map<string, Promise<Patch | undefined>>();
  const compare = (baseCommit: string, tree: string): Promise<Patch | undefined> => {
    const key = `${baseCommit} ${tree}`;
    const found = known.get(key) ?? readPatch(baseCommit, tree);
    known.set(key, found);
    return found;
  };
  const readPatch = async (baseCommit: string, tree: string): Promise<Patch | undefined> => {
    if (!isObjectId(tree) || !(await isCommit(baseCommit))) return undefined;
    const [found] = await describeObjects(repository, [tree]);
    if (found?.type !== 'tree') return undefined;
    try {
      return await inUndoScratch(repository, async (scratch) => {
        const base = { commit: baseCommit, tree: await treeOf(scratch, baseCommit) };
        const { digest, files } = await normalisePatch(scratch, base, tree);
        return { digest, files };
      });
    } catch (fault) {
      // A blob is missing, or writ accepts no patch between these trees: equality was not shown.
      if (isWritError(fault)) return undefined;
      throw fault;
    }
  };
  return {
    async ownedPaths(policy, base, tree) {
      if (!(await isCommit(policy))) return undefined;
      const names = [`${policy}:${ownersPath}`, `${policy}:.writ/config.toml`];
      const [file, config] = await readObjects(repository, names);
      if (file?.type !== 'blob') return [];
      const owners = parseOwners(file.bytes, groupsIn(config?.type === 'blob' ? config.bytes : undefined));
      const patch = await compare(base, tree);
      return patch && ownedPathsIn(owners, patch.files);
    },
    async carriesApprovals(commit) {
      if (!(await isCommit(commit))) return undefined;
      const [file] = await readObjects(repository, [`${commit}:.writ/config.toml`]);
      return carriesApprovals(file?.type === 'blob' ? file.bytes : undefined);
    },
    async isAncestor(ancestor, commit) {
      if (!(await isCommit(ancestor)) || !(await isCommit(commit))) return undefined;
      return isAncestorInFull(repository, ancestor, commit);
    },
    patchDigest: async (baseCommit, tree) => (await compare(baseCommit, tree))?.digest,
    async editedPaths(baseCommit, tree, other) {
      const patch = await compare(baseCommit, tree);
      if (patch === undefined || !(await isCommit(other))) return undefined;
      const args = [
        'diff-tree',
        '-r',
        '-z',
        '--name-only',
        '--no-renames',
        '--end-of-options',
        baseCommit,
        other,
      ];
      const { code, stdout } = await askGit(repository, args);
      if (code !== 0) return undefined;
      const moved = new Set(stdout.toString('utf8').split('\0'));
      return patch.files.map(({ path, oldPath = path }) => oldPath).filter((path) => moved.has(path));
    },
  };
}

/**
 * True if `commit` has the ancestor; `undefined` if the history between them is incomplete. `.git/shallow` would hide
 * parents, so that git would wrongly return no.
 */
async function isAncestorInFull(
  repository: Repository,
  ancestor: string,
  commit: string,
): Promise<boolean | undefined> {
  const env = { GIT_SHALLOW_FILE: '' };
  const args = ['merge-base', '--is-ancestor', '--end-of-options', ancestor, commit];
  const { code, stderr } = await askGit(repository, args, { env });
  if (code === 0) return true;
  // A walk over all commits that `ancestor` does not reach fails at a missing parent.
  const listed = ['rev-list', '--count', '--end-of-options', commit, `^${ancestor}`];
  const walk = await askGit(repository, listed, { env });
  if (walk.code === 0 && code === 1) return false;
  if (/Could not read [0-9a-f]{40}/.test(`${stderr}${walk.stderr}`)) return undefined;
  throw walk.code === 0 ? gitFailed(args, code, stderr) : gitFailed(listed, walk.code, walk.stderr);
}
