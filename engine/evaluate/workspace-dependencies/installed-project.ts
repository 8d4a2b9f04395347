/* Finds the project itself among the Python packages of a shared environment. */
import { globSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readPlain } from '../../../core/base/files.ts';
import { isRecord } from '../../../core/base/json-pointer.ts';
import { isInside } from '../../../workspace/process/find-program.ts';

const maxRecordBytes = 64 * 1024;
const maxSourceBytes = 1024 * 1024;

export interface InstalledProject {
  /** What shows it, relative to the environment. */
  readonly record: string;
  readonly isLink: boolean;
  /** The wheel or sdist in the working tree that it came from. */
  readonly archive?: string;
}

/** In a virtual environment, and in each of a directory of them (`.tox`, `.nox`). */
const packages = '{,*/}{lib,lib64}/*/site-packages';

/**
 * A Python package of the environment `source` that is the project, or a part of it. A copy before a link. A package is
 * a copy if it has the project's name, was installed from a directory, repository or archive of the working tree, or
 * holds a module with the same content as the working tree. Only an archive that the change leaves as it is at the base
 * commit (`isUnchanged`) came from elsewhere, unless it has the project's name.
 */
export async function installedProject(
  source: string,
  worktree: string,
  isUnchanged: (path: string) => Promise<boolean>,
): Promise<InstalledProject | undefined> {
  const names = projectNames(worktree);
  let link: string | undefined;
  for (const record of globSync(`${packages}/*.{dist-info,egg-info,egg}`, { cwd: source })) {
    const { url, dir_info: directory, vcs_info: repository } = readRecord(join(source, record));
    const isLink = isRecord(directory) && directory.editable === true;
    const from = typeof url === 'string' ? await pathOfUrl(url) : undefined;
    const isOfTree = from !== undefined && isInside(worktree, from);
    if (isLink) {
      if (isOfTree) link ??= record;
      continue;
    }
    const isNamed = names.has(
      normalised(basename(record).replace(/(?:-[^-]*)*\.(?:dist-info|egg-info|egg)$/, '')),
    );
    if (!isOfTree) {
      if (isNamed) return { record, isLink: false };
      continue;
    }
    if (isRecord(directory) || isRecord(repository)) return { record, isLink: false };
    const archive = relative(worktree, from).split(sep).join('/');
    if (isNamed || !(await isUnchanged(archive))) return { record, isLink: false, archive };
  }
  const module = copiedModule(source, worktree);
  if (module !== undefined) return { record: module, isLink: false };
  return link === undefined ? undefined : { record: link, isLink: true };
}

/** Names that the project's own files give it. */
function projectNames(worktree: string): ReadonlySet<string> {
  const stated = /^\s{0,20}name\s{0,9}=\s{0,9}["']?([\w.-]{1,200})["']?\s{0,9},?\s{0,9}(?:#.{0,200})?$/gm;
  const files = ['pyproject.toml', 'setup.cfg', 'setup.py'];
  const texts = files.map((name) => textOf(join(worktree, name)));
  return new Set(
    texts.flatMap((text) => [...text.matchAll(stated)].map(([, name = '']) => normalised(name))),
  );
}

/** Directories of the working tree from which Python modules are imported. */
const sources = '{,src/,lib/,python/,{packages,libs,projects,python}/*/{,src/}}';

/**
 * A module of the environment that has the content of a module of the working tree, in a package of the same name;
 * `undefined` if there is none.
 */
function copiedModule(source: string, worktree: string): string | undefined {
  const own = [
    ...globSync(`${sources}*/__init__.py`, { cwd: worktree, exclude: isEnvironment }).map(dirname),
    ...globSync(`${sources}*.py`, { cwd: worktree, exclude: isEnvironment }),
  ];
  for (const path of own) {
    const modules = path.endsWith('.py') ? [path] : globSync(`${path}/**/*.py`, { cwd: worktree });
    for (const site of globSync(packages, { cwd: source }))
      for (const module of modules) {
        const copy = `${site}/${relative(dirname(path), module)}`;
        const bytes = readPlain(join(source, copy), maxSourceBytes).bytes;
        // Many packages have the same empty module.
        if (bytes === undefined || bytes.toString().trim() === '') continue;
        if (readPlain(join(worktree, module), maxSourceBytes).bytes?.equals(bytes)) return copy;
      }
  }
  return undefined;
}

function isEnvironment(path: string): boolean {
  return /(?:^|\/)(?:site-packages|node_modules)(?:\/|$)/.test(path);
}

function textOf(path: string): string {
  return readPlain(path, maxRecordBytes).bytes?.toString('utf8') ?? '';
}

/** `direct_url.json` (PEP 610) of an installed package; empty where there is none. */
function readRecord(directory: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(textOf(join(directory, 'direct_url.json')));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** The file of a `file:` URL, without links as far as it is there: what was built may be gone. */
async function pathOfUrl(url: string): Promise<string | undefined> {
  try {
    return await realAsFar(fileURLToPath(url));
  } catch {
    return undefined;
  }
}

async function realAsFar(path: string): Promise<string> {
  const parent = dirname(path);
  return realpath(path).catch(async () =>
    parent === path ? path : join(await realAsFar(parent), basename(path)),
  );
}

/** A name as package indexes compare it (PEP 503). */
function normalised(name: string): string {
  return name.toLowerCase().replace(/[-_.]{1,200}/g, '-');
}
