import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import type { ObjectStore } from '../../core/contract/object-store.ts';
import type { Repository } from '../vcs/repository.ts';
import { openExternalLocalStore } from './external-local-store.ts';
import { openGitNativeStore } from './git-native-store.ts';
import { compareBytes } from './local/version-manifest.ts';

/**
 * The stores of a repository as one, for whoever has a ref and no contract: a ref is where it is, in git first; a new one goes into git.
 * Where store `external-local` was never used it costs nothing.
 */
export function openWhicheverStore(repository: Repository, clock: Clock): ObjectStore {
  const git = openGitNativeStore(repository, { clock });
  if (!existsSync(join(repository.commonDir, 'writ', 'store'))) return git;
  const local = openExternalLocalStore(repository, { clock });
  const holderOf = async (ref: string): Promise<ObjectStore> =>
    (await git.version(ref)) === undefined && (await local.version(ref)) !== undefined ? local : git;
  return {
    writeTree: async (ref, write) => (await holderOf(ref)).writeTree(ref, write),
    version: async (ref) => (await git.version(ref)) ?? local.version(ref),
    read: async (ref, path) => (await holderOf(ref)).read(ref, path),
    readMany: async (ref, paths) => (await holderOf(ref)).readMany(ref, paths),
    list: async (ref) => (await holderOf(ref)).list(ref),
    async refs(prefix) {
      const inGit = await git.refs(prefix);
      const known = new Set(inGit.map(({ ref }) => ref));
      const others = (await local.refs(prefix)).filter(({ ref }) => !known.has(ref));
      return [...inGit, ...others].sort((a, b) => compareBytes(a.ref, b.ref));
    },
    async remove(ref) {
      await git.remove(ref);
      await local.remove(ref);
    },
  };
}
