/* Keeps the user's repository out of a sandbox that works on a candidate of it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { SandboxBackend } from '../../core/interfaces/sandbox.ts';
import { isIgnoredPath } from './dirty-paths.ts';
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

/** The main working tree, and those that git has linked to it. */
function otherWorkTrees({ root, commonDir }: Repository): readonly string[] {
  const main = commonDir.endsWith('/.git') ? [dirname(commonDir)] : [];
  return [
    ...main,
    ...namesIn(join(commonDir, 'worktrees')).flatMap((name) => linkedTree(commonDir, name)),
  ].filter((one) => one !== root);
}

function linkedTree(commonDir: string, name: string): readonly string[] {
  try {
    return [dirname(readFileSync(join(commonDir, 'worktrees', name, 'gitdir'), 'utf8').trim())];
  } catch {
    return [];
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
