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
/** Where pip puts what it installs with `-e git+URL`, for which `pip freeze` writes also the project itself. */
const clones = '{,*/}src/*{,/src}';

/**
 * A Python package of the environment `source` that is the project, or a part of it. A copy before a link. A package is
 * a copy if it has the project's name, holds a package that the working tree has under that name, or was installed from
 * a directory, repository or archive of the working tree. Only an archive that the change leaves as it is at the base
 * commit (`isUnchanged`) came from elsewhere, unless it has the project's name.
 */
export async function installedProject(
  source: string,
  worktree: string,
  isUnchanged: (path: string) => Promise<boolean>,
): Promise<InstalledProject | undefined> {
  const sites = globSync(packages, { cwd: source });
  if (sites.length === 0) return undefined;
  const roots = projectRoots(worktree);
  const namesOf = new Map(roots.map((root) => [root, namesIn(join(worktree, root))]));
  const names = new Set([...namesOf.values()].flat());
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
    const isNamed = names.has(nameOf(record));
    if (!isOfTree) {
      if (isNamed && holdsModules(join(source, record))) return { record, isLink: false };
      continue;
    }
    if (isRecord(directory) || isRecord(repository)) return { record, isLink: false };
    const archive = relative(worktree, from).split(sep).join('/');
    if (isNamed || !(await isUnchanged(archive))) return { record, isLink: false, archive };
  }
  const module = copiedModule(source, sites, worktree, namesOf);
  if (module !== undefined) return { record: module, isLink: false };
  return link === undefined ? undefined : { record: link, isLink: true };
}

/** Whether files of a package are in the environment: `RECORD` of a link names only the file that leads elsewhere. */
function holdsModules(record: string): boolean {
  const listed = textOf(join(record, 'RECORD'));
  return listed === '' || /^(?!__editable__)[^,\n]{1,300}\.(?:py|so)\b/m.test(listed);
}

/** Names that the files of a project give it. */
function namesIn(root: string): readonly string[] {
  const sections = /^(?:project|tool\.poetry|tool\.flit\.metadata|metadata)$/;
  const names: string[] = [];
  for (const file of ['pyproject.toml', 'setup.cfg']) {
    let section = '';
    for (const line of textOf(join(root, file)).split('\n')) {
      section = /^\s*\[+([^\]]{1,100})\]/.exec(line)?.[1] ?? section;
      const name = /^\s{0,20}(?:name|dist-name)\s{0,9}=\s{0,9}["']?([\w.-]{1,200})/.exec(line)?.[1];
      if (name !== undefined && sections.test(section)) names.push(name);
    }
  }
  const inSetup = /\bname\s{0,9}=\s{0,9}["']([\w.-]{1,200})["']/gi;
  for (const [, name = ''] of textOf(join(root, 'setup.py')).matchAll(inSetup)) names.push(name);
  return names.map(normalised);
}

/** Packages that many projects have beside their own, and some install by mistake. */
const common =
  /^(?:tests?|docs?|examples?|benchmarks?|scripts|tools|setup|conftest|noxfile|tasks|build|dist)$/;

/**
 * A package or module of the environment that the working tree has under the same name; `undefined` for none. One that
 * a package of another name has installed is of that package, if the part of the project that has it says its own name.
 */
function copiedModule(
  source: string,
  sites: readonly string[],
  worktree: string,
  namesOf: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const places = [...sites, ...globSync([`${packages}/*.egg`, clones], { cwd: source })];
  const directories = [...namesOf].flatMap(([root, names]) => [
    { directory: root, isImported: false, names },
    { directory: join(root, 'src'), isImported: true, names },
  ]);
  for (const { directory, isImported, names } of directories)
    for (const name of importable(worktree, directory)) {
      const here = join(worktree, directory, name);
      for (const place of places) {
        const copy = copyOf(here, join(source, place, name), isImported);
        if (copy === undefined) continue;
        if (names.length > 0 && isOfOther(copy, join(source, place))) continue;
        return relative(source, copy);
      }
    }
  return undefined;
}

/** Whether the `RECORD` of a package has the file; the caller has looked at those with a name of the project. */
function isOfOther(file: string, site: string): boolean {
  const line = `\n${relative(site, file).split(sep).join('/')},`;
  const records = globSync('*.dist-info/RECORD', { cwd: site });
  return records.some((record) => `\n${textOf(join(site, record))}`.includes(line));
}

/** The normalised name of a package by its record (`calc_proj-1.0.dist-info`). */
function nameOf(record: string): string {
  return normalised(basename(record).replace(/(?:-[^-]*)*\.(?:dist-info|egg-info|egg)$/, ''));
}

/** The working tree, and each directory in it that has files of a Python project. */
function projectRoots(worktree: string): readonly string[] {
  const files = '{,*/,*/*/}{pyproject.toml,setup.py,setup.cfg}';
  const found = globSync(files, { cwd: worktree, exclude: isEnvironment }).map((path) => dirname(path));
  return [...new Set(['', ...found.map((path) => (path === '.' ? '' : path))])];
}

/** Modules of a directory, and directories that hold some, without those of `common` names. */
function importable(worktree: string, directory: string): readonly string[] {
  const cwd = join(worktree, directory);
  const holders = globSync('*/{*.py,*/*.py}', { cwd, exclude: isEnvironment });
  const names = [...globSync('*.py', { cwd }), ...new Set(holders.map((path) => path.split('/')[0] ?? ''))];
  return names.filter((name) => !common.test(name.replace(/\.py$/, '')));
}

/**
 * The file of `there` that is a copy of the package or module `here`, by name: a module, a package that is one file, or
 * a module of a package. `isImported`: a directory without `__init__.py` is a namespace package too, and not one of
 * scripts that has the name of a package (`alembic/env.py`).
 */
function copyOf(here: string, there: string, isImported: boolean): string | undefined {
  if (here.endsWith('.py')) return isThere(there) ? there : undefined;
  const inits = [here, there].map((place) => readPlain(join(place, '__init__.py'), maxSourceBytes).bytes);
  const isPackage = inits.every(
    (bytes) => bytes !== undefined && !/extend_path|declare_namespace/.test(`${bytes}`),
  );
  if (inits[0] === undefined && !isImported) return undefined;
  const modules = globSync(['*.py', '*/__init__.py'], { cwd: here }).filter((name) => name !== '__init__.py');
  if (isPackage && modules.length === 0) return join(there, '__init__.py');
  return modules.map((name) => join(there, name)).find(isThere);
}

function isThere(path: string): boolean {
  return readPlain(path, maxSourceBytes).bytes !== undefined;
}

function isEnvironment(path: string): boolean {
  return /(?:^|\/)(?:site-packages|node_modules|\.?venv)(?:\/|$)/.test(path);
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
