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
 * The configuration with the lockfile of each directory under `share`: the deciding file of its ecosystem in `tree`,
 * beside it or at the root, unless `lockfile` names another. If `[workspace]` names neither `share` nor `prepare`, the
 * usual directories of the working tree that have such a file are shared. Like any shared one, they count only if git
 * ignores them and that file is the same on disk, at the base and in the candidate.
 */
async function withUsualShares(
  repository: Repository,
  tree: string,
  config: WritConfig,
): Promise<WritConfig> {
  const { sharesUsual, findsLockfile, share: given } = config.workspace;
  if (!findsLockfile) return config;
  const usual = ecosystems.flatMap(({ directories }) => directories);
  const lockfiles = new Map<string, string>();
  for (const directory of sharesUsual ? usual.filter((one) => isThere(repository, one)) : given) {
    const found = ecosystems.find(({ directories }) => directories.includes(basename(directory)));
    const file = found && (await decidingFile(repository, tree, found, dirname(directory)));
    if (file === undefined) continue;
    lockfiles.set(directory, file);
    if (sharesUsual && directory === 'node_modules' && found?.locks.includes(file))
      for (const inPackage of ofWorkspaces(repository, `${await readBlob(repository, tree, file)}`))
        lockfiles.set(inPackage, file);
  }
  const share = sharesUsual ? [...lockfiles.keys()] : given;
  return { ...config, workspace: { ...config.workspace, share, lockfiles } };
}

/** A lock in `directory`, else at the root; else a manifest. */
async function decidingFile(
  repository: Repository,
  tree: string,
  { locks, manifests }: Ecosystem,
  directory: string,
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
