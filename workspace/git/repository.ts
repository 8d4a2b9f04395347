import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { askGit, type GitDirectory, gitFailed } from './git.ts';
import type { GitSetting } from './git-environment.ts';
import { areRefsFiles } from './ref-files.ts';

/** The person's repository, seen from one of its work trees. Nothing in here writes to it. */
export interface Repository extends GitDirectory {
  /** Root of this work tree, symlinks resolved; of a bare repository its own directory. */
  readonly root: string;
  /** Shared by linked work trees: refs, objects, `writ/` state. */
  readonly commonDir: string;
  /** The object directory of the repository. */
  readonly objectsDir: string;
  /** Its config names no remote that has objects which are left out here (a partial clone). */
  readonly isWhole?: boolean;
}

/** What whoever opens a repository does there. */
export interface RepositoryUse {
  /** It may be without a work tree: only objects and refs are read. */
  readonly bare?: boolean;
  /** Nothing of it is written, no file of its work tree read: git is asked once instead of twice. */
  readonly onlyReads?: boolean;
}

/**
 * Finds the repository around `path`. Refuses with NOT_A_REPOSITORY (also inside `.git`), BARE_REPOSITORY unless
 * `bare`, GIT_MISSING, and GIT_FAILED where git itself refuses it (foreign
 * owner, damaged config) or would read without end.
 */
export async function openRepository(
  path: string,
  { bare: mayBeBare = false, onlyReads = false }: RepositoryUse = {},
): Promise<Repository> {
  const start = await directoryAt(resolve(path));
  const place: GitDirectory = { gitDir: '', objectFormat: 'sha1', cwd: start, env: {}, settings: [] };
  const args = [
    'rev-parse',
    '--path-format=absolute',
    '--is-bare-repository',
    '--is-inside-work-tree',
    '--show-object-format',
    '--absolute-git-dir',
    '--git-common-dir',
    '--git-path',
    'objects',
    '--show-toplevel',
  ];
  // Side by side: each finds the repository by itself, from the same directory and in the same environment.
  const [answer, config] = await Promise.all([
    askGit(place, args),
    onlyReads ? undefined : readConfig(place),
  ]);
  const lines = answer.stdout.toString('utf8').split('\n');
  const [bare, inside, format, gitDir = '', commonDir = '', objectsDir = ''] = lines;
  // Outside a work tree it fails at the last question only.
  if (answer.code !== 0 && lines.length !== 7) throw discoveryFault(start, args, answer.code, answer.stderr);
  const isBare = bare === 'true' && inside !== 'true';
  if (inside !== 'true' && !(isBare && mayBeBare)) {
    if (isBare) throw new WritError('BARE_REPOSITORY', { detail: { path: start, gitDir } });
    throw new WritError('NOT_A_REPOSITORY', {
      message: `\`${start}\` lies inside the git directory, not in a work tree`,
      detail: { path: start },
    });
  }
  if (answer.code !== 0 && !isBare) throw gitFailed(args, answer.code, answer.stderr);
  const root = isBare ? gitDir : lines.slice(6, -1).join('\n');
  if (start !== root && !start.startsWith(root === '/' ? root : `${root}/`)) {
    throw new WritError('NOT_A_REPOSITORY', {
      message: `the repository path of \`${start}\` holds a newline`,
      detail: { path: start },
    });
  }
  if (format !== 'sha1' && format !== 'sha256') {
    throw new WritError('GIT_FAILED', {
      message: `expected object format sha1 or sha256, found \`${format}\``,
      detail: { format },
    });
  }
  await requirePlainFiles(commonDir);
  const found = {
    gitDir,
    objectFormat: format,
    cwd: root,
    env: { GIT_DIR: gitDir, ...(isBare ? {} : { GIT_WORK_TREE: root }) },
  } as const;
  const refs = (config?.refsAreFiles ?? (await areRefsFiles(commonDir))) ? { refsIn: commonDir } : {};
  const known = config
    ? { settings: config.settings, isWhole: config.isWhole }
    : ({ settings: [], onlyReads: true } as const);
  return { ...found, ...known, ...refs, root, commonDir, objectsDir };
}

/** The tree without entries, in the repository's object format; git knows it without storing it. */
export function emptyTreeOf(place: GitDirectory): string {
  return place.objectFormat === 'sha1'
    ? '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
    : '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';
}

/** The id that stands for "no object", in the repository's object format. */
export function zeroIdOf(place: GitDirectory): string {
  return '0'.repeat(place.objectFormat === 'sha1' ? 40 : 64);
}

/** True for a full object id in either format, lower case. */
export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

async function directoryAt(path: string): Promise<string> {
  try {
    const found = await realpath(path);
    if ((await stat(found)).isDirectory()) return found;
  } catch (cause) {
    throw new WritError('NOT_A_REPOSITORY', {
      message: `\`${path}\` cannot be read`,
      detail: { path },
      cause,
    });
  }
  throw new WritError('NOT_A_REPOSITORY', { message: `\`${path}\` is not a directory`, detail: { path } });
}

function discoveryFault(path: string, args: readonly string[], code: number, stderr: string): WritError {
  if (/not a git repository/i.test(stderr)) return new WritError('NOT_A_REPOSITORY', { detail: { path } });
  return gitFailed(args, code, stderr);
}

/**
 * Filter drivers (`filter.<name>.clean`, …) are programs, and no single setting turns them off: each is emptied by
 * name. Refs are plain files unless the config says how else they are kept, and every object is here unless it says
 * where the others are.
 */
async function readConfig(place: GitDirectory): Promise<{
  readonly settings: readonly GitSetting[];
  readonly refsAreFiles: boolean;
  readonly isWhole: boolean;
}> {
  const { code, stdout } = await askGit(place, [
    'config',
    '-z',
    '--name-only',
    '--get-regexp',
    '^(filter\\..*\\.(clean|smudge|process|required)|extensions\\.(refstorage|partialclone)|remote\\..*\\.(promisor|partialclonefilter))$',
  ]);
  const keys = new Set(
    stdout
      .toString('utf8')
      .split('\0')
      .filter((key) => key !== ''),
  );
  const filters = [...keys].filter((key) => key.startsWith('filter.'));
  // 1 is "no such key"; where git could not read its config, nothing is known.
  const isKnown = code <= 1;
  const isStored = (key: string): boolean => key === 'extensions.refstorage';
  return {
    settings: filters.map((key) => [key, key.endsWith('.required') ? 'false' : '']),
    refsAreFiles: isKnown && ![...keys].some(isStored),
    isWhole: isKnown && [...keys].every((key) => isStored(key) || key.startsWith('filter.')),
  };
}

/** Files of a git directory that git reads to their end before it looks up an object. */
const read = [
  'packed-refs',
  'shallow',
  'info/grafts',
  'objects/info/alternates',
  'objects/info/commit-graph',
  'objects/pack/multi-pack-index',
];

/**
 * Refuses with GIT_FAILED a git directory in which one of these is a pipe, a socket or a device, itself or by a link:
 * git, and we, would wait for it for ever, or read it until no memory is left. A link to a file is as good as the file;
 * what is not there is fine.
 */
export async function requirePlainFiles(commonDir: string): Promise<void> {
  await Promise.all(
    read.map(async (name) => {
      const found = await stat(join(commonDir, name)).catch(() => undefined);
      if (found === undefined || found.isFile() || found.isDirectory()) return;
      throw new WritError('GIT_FAILED', {
        message: `expected \`${name}\` in the git directory to be a file, found a pipe, a socket or a device`,
        detail: { path: name },
      });
    }),
  );
}
