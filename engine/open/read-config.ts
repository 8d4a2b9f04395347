/* Reads the configuration of the policy commit, and adds the installed dependencies that checks see by default. */
import { globSync, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { listNames } from '../../workspace/git/tree.ts';
import { parseConfig, type WritConfig } from '../config/config.ts';
import type { SealingForms } from '../config/sections.ts';
import { withCommitHooks } from '../state/commit-hooks.ts';

/**
 * Where packages are installed, and the files that decide what is in it; the first that git tracks counts. A manifest
 * decides where there is no lock.
 */
interface Ecosystem {
  readonly directories: readonly string[];
  readonly locks: readonly string[];
  readonly manifests: readonly string[];
}

const ecosystems: readonly Ecosystem[] = [
  {
    directories: ['node_modules'],
    locks: ['package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock', 'bun.lock'],
    manifests: ['package.json'],
  },
  {
    directories: ['.venv', 'venv'],
    locks: ['uv.lock', 'poetry.lock', 'pdm.lock', 'Pipfile.lock', 'requirements.txt'],
    manifests: ['pyproject.toml', 'setup.py'],
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
 * they count only if git ignores them and that file is the same on disk, at the base and in the candidate. Each
 * directory that `share` names gets the deciding file of its ecosystem, beside it or at the root, unless `lockfile`
 * names another.
 */
async function withUsualShares(
  repository: Repository,
  tree: string,
  config: WritConfig,
): Promise<WritConfig> {
  const { sharesUsual, findsLockfile, share: given } = config.workspace;
  if (!findsLockfile) return config;
  const lockfiles = new Map<string, string>();
  for (const directory of sharesUsual ? [] : given) {
    const found = ecosystems.find(({ directories }) => directories.includes(basename(directory)));
    const file = found && (await decidingFile(repository, tree, found, dirname(directory)));
    if (file !== undefined) lockfiles.set(directory, file);
  }
  if (!sharesUsual) return { ...config, workspace: { ...config.workspace, lockfiles } };
  for (const ecosystem of ecosystems) {
    const share = ecosystem.directories.filter((directory) => isThere(repository, directory));
    const lockfile = share.length === 0 ? undefined : await decidingFile(repository, tree, ecosystem);
    if (lockfile === undefined) continue;
    const inPackages =
      share.includes('node_modules') && ecosystem.locks.includes(lockfile)
        ? ofWorkspaces(repository, `${await readBlob(repository, tree, lockfile)}`)
        : [];
    return { ...config, workspace: { ...config.workspace, share: [...share, ...inPackages], lockfile } };
  }
  return config;
}

/** A lock in `directory`, else at the root; else a manifest. */
async function decidingFile(
  repository: Repository,
  tree: string,
  { locks, manifests }: Ecosystem,
  directory = '.',
): Promise<string | undefined> {
  const places = directory === '.' ? [''] : [`${directory}/`, ''];
  const tracked = await Promise.all(
    places.map((place) => listNames(repository, tree, place.replace(/\/$/, ''))),
  );
  for (const names of [locks, manifests])
    for (const [at, place] of places.entries()) {
      const found = names.find((name) => tracked[at]?.has(name));
      if (found !== undefined) return `${place}${found}`;
    }
  return undefined;
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
