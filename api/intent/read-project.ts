/* Reads what a new spec takes from the place it is for: target, author and test command. */
import { existsSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import type { Actor, TargetRepo } from '../../core/interfaces/intentspec.gen.ts';
import {
  type ProposedCheck,
  type PythonTests,
  projectFiles,
  proposeCheck,
  pythonTestName,
} from '../../spec/propose-check.ts';
import { locatorForm } from '../../spec/rules/document-rules.ts';
import { identityOf } from '../../workspace/git/commit-log.ts';
import { describeObjects, readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository, originOf, type Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { listNames } from '../../workspace/git/tree.ts';

const maxFileBytes = 1024 * 1024;

/** The files of a project, in a directory or in a commit. */
interface ProjectFiles {
  /** A regular file of at most 1 MiB. */
  read(path: string): Promise<Buffer | undefined>;
  has(name: string): Promise<boolean>;
  /** Names in a directory, at most 1000. */
  list(directory: string): Promise<readonly string[]>;
}

/**
 * Detects the test command of a project from its files: those in the directory, or those in a tree of its repository.
 * `undefined` if none says how tests run.
 */
export async function readProposedCheck(
  root: string,
  files: ProjectFiles = onDisk(root),
): Promise<ProposedCheck | undefined> {
  const texts = new Map<(typeof projectFiles)[number], string>();
  for (const name of projectFiles) {
    // Of a lockfile, which can be large, only its presence counts.
    const isLockfile = /[.-]lock\b/.test(name);
    const text = isLockfile ? ((await files.has(name)) ? '' : undefined) : await files.read(name);
    if (text !== undefined) texts.set(name, text.toString());
  }
  return inEnvironment(root, proposeCheck(texts, await pythonTests(files)));
}

function onDisk(root: string): ProjectFiles {
  return {
    read: async (path) => readPlain(join(root, path), maxFileBytes).bytes,
    has: async (name) => (await lstat(join(root, name)).catch(() => undefined))?.isFile() === true,
    async list(directory) {
      const names: string[] = [];
      const entries = await opendir(join(root, directory)).catch(() => undefined);
      if (entries === undefined) return names;
      for await (const entry of entries) {
        if (entry.isFile()) names.push(entry.name);
        if (names.length === mostEntries) break;
      }
      return names;
    },
  };
}

/** The files of a tree: a change does not choose the command that checks it. */
export function projectInTree(repository: Repository, tree: string): ProjectFiles {
  return {
    read: (path) =>
      readBlob(repository, tree, path, maxFileBytes).catch((fault: unknown) => {
        if (isWritError(fault, 'INPUT_TOO_LARGE')) return undefined;
        throw fault;
      }),
    has: async (name) => (await describeObjects(repository, [`${tree}:${name}`]))[0]?.type === 'blob',
    list: async (directory) => {
      const names = await listNames(repository, tree, directory === '.' ? '' : directory);
      return [...names].slice(0, mostEntries);
    },
  };
}

/** The check with the Python of the project's virtual environment, if it has one: its packages are only there. */
function inEnvironment(root: string, check: ProposedCheck | undefined): ProposedCheck | undefined {
  const python = ['.venv/bin/python', 'venv/bin/python'].find((path) => existsSync(join(root, path)));
  if (python === undefined || check?.allowed?.startsWith('python3 ') !== true) return check;
  const own = (words: string): string => words.replace(/^python3/, python);
  return { ...check, command: own(check.command), allowed: own(check.allowed) };
}

const mostEntries = 1000;
const mostRead = 20;

/** The tests in a usual directory that holds files which pytest finds. */
async function pythonTests({ read, list }: ProjectFiles): Promise<PythonTests | undefined> {
  for (const directory of ['tests', 'tests/unit', 'test', '.']) {
    const names = (await list(directory)).filter((name) => pythonTestName.test(name));
    if (names.length === 0) continue;
    const readAll = (paths: readonly string[]) => Promise.all(paths.map(read));
    const inside = (name: string): string => (directory === '.' ? name : `${directory}/${name}`);
    const texts = await readAll(names.slice(0, mostRead).map(inside));
    const parents =
      directory === '.' ? [] : directory.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'));
    const packages = await readAll(parents.map((path) => `${path}/__init__.py`));
    return {
      directory,
      areUnittests:
        names.every((name) => name.startsWith('test_')) &&
        texts.every((text) => text !== undefined && isUnittest(text.toString('utf8'))),
      isPackage: packages.every((text) => text !== undefined),
    };
  }
  return undefined;
}

function isUnittest(text: string): boolean {
  return /^\s*(?:import|from) unittest\b/m.test(text) && !/^\s*(?:import|from) pytest\b/m.test(text);
}

/** Target repository and author of a draft. */
interface DraftTarget {
  readonly repo: TargetRepo;
  readonly baseRef: string;
  readonly createdBy: Actor;
  /** Directory of the project. */
  readonly root: string;
}

/** Where a spec is written, and for which repository. */
export interface DraftPlace {
  readonly cwd: string;
  /** Absent: the repository around `cwd`. */
  readonly repoPath?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: { note(text: string): void };
}

/**
 * Reads remote, branch and git identity from the repository around the working directory. Outside a repository, uses
 * the directory itself and prints a note.
 */
export async function draftTarget(context: DraftPlace): Promise<DraftTarget> {
  const place = context.repoPath ?? context.cwd;
  let repository: Repository;
  try {
    repository = await openRepository(place);
  } catch (fault) {
    if (context.repoPath !== undefined || !isWritError(fault, 'NOT_A_REPOSITORY')) throw fault;
    context.print.note('not inside a git repository: the draft names this directory and the branch main');
    return {
      repo: { type: 'local', locator: resolve(place) },
      baseRef: 'main',
      createdBy: userOf(context),
      root: resolve(place),
    };
  }
  return targetIn(repository, context);
}

function userOf({ env }: Pick<DraftPlace, 'env'>): Actor {
  return { type: 'user', id: (env.USER || 'unknown').slice(0, 128) };
}

/** Remote, branch and git identity of a repository. */
export async function targetIn(
  repository: Repository,
  context: Pick<DraftPlace, 'env'>,
): Promise<DraftTarget> {
  const [{ branch, commit }, identity, remote] = await Promise.all([
    readHead(repository),
    identityOf(repository),
    remoteOf(repository),
  ]);
  return {
    root: repository.root,
    repo: remote ?? { type: 'local', locator: repository.root },
    baseRef: branch?.replace(/^refs\/heads\//, '') ?? commit ?? 'HEAD',
    createdBy:
      identity === undefined
        ? userOf(context)
        : { type: 'user', id: identity.email.slice(0, 128), displayName: identity.name.slice(0, 256) },
  };
}

/** The remote `origin`, unless a spec may not contain its URL (a password, a plain path). */
async function remoteOf(repository: Repository): Promise<TargetRepo | undefined> {
  const locator = await originOf(repository);
  if (locator === '' || locator.length > 512) return undefined;
  const repo: TargetRepo = { type: 'git', locator };
  return locatorForm({ metadata: { target: { repo } } }).length === 0 ? repo : undefined;
}
