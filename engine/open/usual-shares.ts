/* The installed dependencies of the working tree that checks see where the policy commit does not say otherwise. */
import { globSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Repository } from '../../workspace/git/repository.ts';
import { listNames } from '../../workspace/git/tree.ts';
import type { WritConfig } from '../config/config.ts';

/** Where packages are installed, and the files that decide what is in it; the first that git tracks counts. */
const usual: readonly { readonly directories: readonly string[]; readonly decidedBy: readonly string[] }[] = [
  {
    directories: ['node_modules'],
    decidedBy: [
      ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'],
      'package.json',
    ],
  },
  {
    directories: ['.venv', 'venv'],
    decidedBy: [
      ...['uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile.lock', 'requirements.txt', 'pyproject.toml'],
      'setup.py',
    ],
  },
];

const mostWorkspaces = 64;

/**
 * The configuration with the usual directories under `share`, if `[workspace]` names neither `share` nor `prepare`:
 * those that the working tree has, of the first ecosystem of which `tree` has a deciding file. Like any shared one,
 * they count only if git ignores them and that file is the same on disk, at the base and in the candidate.
 */
export async function withUsualShares(
  repository: Repository,
  tree: string,
  config: WritConfig,
): Promise<WritConfig> {
  if (!config.workspace.sharesUsual) return config;
  let tracked: ReadonlySet<string> | undefined;
  for (const { directories, decidedBy } of usual) {
    const share: string[] = [];
    for (const directory of directories) if (await isDirectory(repository, directory)) share.push(directory);
    if (share.length === 0) continue;
    tracked ??= await listNames(repository, tree);
    const lockfile = decidedBy.find((name) => tracked?.has(name));
    if (lockfile === undefined) continue;
    const inPackages = share.includes('node_modules') ? await ofWorkspaces(repository) : [];
    return { ...config, workspace: { ...config.workspace, share: [...share, ...inPackages], lockfile } };
  }
  return config;
}

/** `node_modules` of the packages of a workspace, which lead into that of the root. */
async function ofWorkspaces(repository: Repository): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of globSync('{*,*/*}/node_modules', { cwd: repository.root, exclude: isInstalled })) {
    const isPackage = await lstat(join(repository.root, dirname(path), 'package.json')).catch(
      () => undefined,
    );
    if (isPackage?.isFile() && (await isDirectory(repository, path))) found.push(path);
  }
  return found.sort().slice(0, mostWorkspaces);
}

function isInstalled(path: string): boolean {
  return /(?:^|\/)node_modules\//.test(path);
}

async function isDirectory({ root }: Repository, path: string): Promise<boolean> {
  return (await lstat(join(root, path)).catch(() => undefined))?.isDirectory() === true;
}
