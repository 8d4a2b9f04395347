/* Keeps the user's repository out of a sandbox that works on a candidate of it. */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readPlain } from '../../core/base/files.ts';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';
import { isIgnoredPath } from './dirty-paths.ts';
import { namesIn } from './hash-tree.ts';
import type { Repository } from './repository.ts';

/** The back end, with the repository hidden in each request (`SandboxRequest.repository`). */
export function hideRepository(sandbox: SandboxBackend, repository: Repository): SandboxBackend {
  const { root, commonDir } = repository;
  const known = new Map<string, Promise<boolean>>();
  const isIgnored = (path: string): Promise<boolean> => {
    const answer = known.get(path) ?? isIgnoredPath(repository, relative(root, path));
    known.set(path, answer);
    return answer;
  };
  const hidden = { root, others: [commonDir, ...otherWorkTrees(repository)], isIgnored };
  return { ...sandbox, run: (request) => sandbox.run({ ...request, repository: hidden }) };
}

const maxTextBytes = 64 * 1024;

/**
 * The main working tree, and those that git has linked to it, as far as they are there. By their real paths: no mount
 * can cover a link, and a sandbox that does not show what a link leads to has nothing to hide.
 */
function otherWorkTrees({ root, commonDir }: Repository): readonly string[] {
  const linked = namesIn(join(commonDir, 'worktrees')).flatMap((name) => {
    const entry = join(commonDir, 'worktrees', name);
    const file = textOf(join(entry, 'gitdir')).trim();
    return file === '' ? [] : [dirname(resolve(entry, file))];
  });
  const trees = [...mainTree(commonDir), ...linked].filter((one) => namesIn(one).length > 0);
  return [...new Set(trees.flatMap(realPathOf))].filter((one) => one !== root);
}

function realPathOf(place: string): readonly string[] {
  try {
    return [realpathSync(place)];
  } catch {
    // It was removed meanwhile.
    return [];
  }
}

/** The directory of `.git`; for a submodule the one that its config names. Nothing else is known to be a tree. */
function mainTree(commonDir: string): readonly string[] {
  const config = textOf(join(commonDir, 'config'));
  const [, configured] = /^\s{0,20}worktree\s{0,9}=\s{0,9}(\S.{0,4000})$/m.exec(config) ?? [];
  if (configured !== undefined) return [resolve(commonDir, configured.trim())];
  return basename(commonDir) === '.git' ? [dirname(commonDir)] : [];
}

function textOf(path: string): string {
  return readPlain(path, maxTextBytes).bytes?.toString('utf8') ?? '';
}
