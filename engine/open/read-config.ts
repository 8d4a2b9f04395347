/* Reads the configuration of the policy commit, and adds the installed dependencies that checks see by default. */
import { globSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listNames } from '../../workspace/git/tree.ts';
import { parseConfig, type WritConfig } from '../config/config.ts';
import type { SealingForms } from '../config/sections.ts';
import { withCommitHooks } from '../state/commit-hooks.ts';

const manifest = 'package.json';
/** Where packages are installed, and the files that decide what is in it; the first that git tracks counts. */
const usual: readonly { readonly directories: readonly string[]; readonly decidedBy: readonly string[] }[] = [
  {
    directories: ['node_modules'],
    decidedBy: [
      ...['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'],
      manifest,
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

/** Parses the configuration of the policy commit and adds the usual shares and the files of its commit hooks. */
export async function readConfig(
  repository: Repository,
  policyTree: string,
  bytes: Uint8Array | undefined,
  forms: SealingForms,
): Promise<WritConfig> {
  const config = await withUsualShares(repository, policyTree, parseConfig(bytes, forms));
  return withCommitHooks(repository, policyTree, config);
}

/**
 * The configuration with the usual directories under `share`, if `[workspace]` names neither `share` nor `prepare`:
 * those that the working tree has, of the first ecosystem of which `tree` has a deciding file. Like any shared one,
 * they count only if git ignores them and that file is the same on disk, at the base and in the candidate. Usual
 * directories that `share` names get that file, too, unless `lockfile` names another.
 */
async function withUsualShares(
  repository: Repository,
  tree: string,
  config: WritConfig,
): Promise<WritConfig> {
  const { sharesUsual, findsLockfile, share: given } = config.workspace;
  if (!findsLockfile) return config;
  let tracked: ReadonlySet<string> | undefined;
  for (const { directories, decidedBy } of usual) {
    const share = directories.filter((directory) =>
      sharesUsual ? isThere(repository, directory) : given.includes(directory),
    );
    if (share.length === 0) continue;
    tracked ??= await listNames(repository, tree);
    const lockfile = decidedBy.find((name) => tracked?.has(name));
    if (lockfile === undefined) continue;
    if (!sharesUsual) return { ...config, workspace: { ...config.workspace, lockfile } };
    const inPackages =
      share.includes('node_modules') && lockfile !== manifest
        ? ofWorkspaces(repository, `${await readBlob(repository, tree, lockfile)}`)
        : [];
    return { ...config, workspace: { ...config.workspace, share: [...share, ...inPackages], lockfile } };
  }
  return config;
}

/** `node_modules` of the packages of a workspace: a lockfile that names their directories decides for them, too. */
function ofWorkspaces(repository: Repository, lockfile: string): readonly string[] {
  const keys = lockfile.matchAll(/(?<key>[\w.@/-]+)(?<isKey>["']?:)?/g);
  const named = new Set([...keys].flatMap(({ groups }) => (groups?.isKey ? [groups.key] : [])));
  const found = globSync('{*,*/*}/node_modules', { cwd: repository.root, exclude: isInstalled });
  return found
    .filter((path) => isThere(repository, path) && named.has(dirname(path)))
    .sort()
    .slice(0, mostWorkspaces);
}

function isInstalled(path: string): boolean {
  return /(?:^|\/)node_modules\//.test(path);
}

/** A link counts, too: why it is not shared is then said. */
function isThere({ root }: Repository, path: string): boolean {
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  return found?.isDirectory() === true || found?.isSymbolicLink() === true;
}
