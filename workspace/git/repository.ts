/* Opens a repository and names it. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { isInside } from '../process/find-program.ts';
import { askGit, type GitDirectory, gitFailed, scopedSettings, tryGit } from './git.ts';
import { areRefsFiles } from './ref-files.ts';
import { remoteUri } from './ref-name.ts';

/** The user's repository, seen from one of its working trees. Functions of this file only read it. */
export interface Repository extends GitDirectory {
  /** Root of this working tree, with symlinks resolved; of a bare repository its own directory. */
  readonly root: string;
  /** Shared by linked working trees: refs, objects, `writ/` state. */
  readonly commonDir: string;
  readonly objectsDir: string;
  /** False or absent: it may be a partial clone. */
  readonly isWhole?: boolean;
  /** True if `commit.gpgsign` is set somewhere; absent: unknown. */
  readonly hasSigning?: boolean;
  /** The same of `core.hooksPath`. */
  readonly hasHooksPath?: boolean;
  /** The address of the remote `origin`, empty if it has none; absent: unknown. */
  readonly origin?: string;
}

export interface RepositoryUse {
  /** A bare repository is accepted: only objects and refs are read. */
  readonly bare?: boolean;
  /** The repository is not written, and no file of its working tree is read, so one git process is enough. */
  readonly onlyReads?: boolean;
}

/**
 * Finds the repository around `path`. NOT_A_REPOSITORY (also inside `.git`), BARE_REPOSITORY unless `bare`,
 * GIT_MISSING, and GIT_FAILED if git itself refuses it (foreign owner, damaged config) or would read forever.
 */
export async function openRepository(
  path: string,
  { bare: mayBeBare = false, onlyReads = false }: RepositoryUse = {},
): Promise<Repository> {
  const start = directoryAt(resolve(path));
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
  // In parallel: each call finds the repository by itself.
  const [answer, config] = await Promise.all([
    askGit(place, args),
    onlyReads ? undefined : readConfig(place),
  ]);
  const lines = answer.stdout.toString('utf8').split('\n');
  const [bare, inside, format, gitDir = '', commonDir = '', objectsDir = ''] = lines;
  // Outside a working tree only the last query fails.
  if (answer.code !== 0 && lines.length !== 7) throw discoveryFault(start, args, answer.code, answer.stderr);
  const isBare = bare === 'true' && inside !== 'true';
  if (inside !== 'true' && !(isBare && mayBeBare)) {
    if (isBare) throw new WritError('BARE_REPOSITORY', { detail: { path: start, gitDir } });
    throw new WritError('NOT_A_REPOSITORY', {
      message: isInside(gitDir, start)
        ? `\`${start}\` is inside the git directory, not in a working tree`
        : `\`${start}\` is outside the working tree that \`core.worktree\` of its repository names`,
      detail: { path: start },
    });
  }
  if (answer.code !== 0 && !isBare) throw gitFailed(args, answer.code, answer.stderr);
  const root = isBare ? gitDir : lines.slice(6, -1).join('\n');
  // The git directory of a bare repository may lie below the directory whose `.git` leads to it.
  if (!isBare && !isInside(root, start)) {
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
  requirePlainFiles(commonDir);
  if (config?.isShared) shareState(commonDir);
  const found = {
    gitDir,
    objectFormat: format,
    cwd: root,
    env: { GIT_DIR: gitDir, ...(isBare ? {} : { GIT_WORK_TREE: root }) },
  } as const;
  const refs = (config?.refsAreFiles ?? areRefsFiles(commonDir)) ? { refsIn: commonDir } : {};
  const known = config?.known ?? ({ settings: [], onlyReads: true } as const);
  return { ...found, ...known, ...refs, root, commonDir, objectsDir };
}

/**
 * `<git-common-dir>/writ/<name>`, shared by linked working trees. If that belongs to another user, who keeps it
 * private, this user has `<name>-<uid>` beside it.
 */
export function stateDirectory({ commonDir }: Pick<Repository, 'commonDir'>, name: string): string {
  const path = join(commonDir, 'writ', name);
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'EACCES')
      return `${path}-${process.geteuid?.() ?? 'other'}`;
  }
  return path;
}

/** Local files of the runs of this user. */
export function runsDirectory(repo: Pick<Repository, 'commonDir'>): string {
  return stateDirectory(repo, 'runs');
}

/** The empty tree, which git knows without storing it. */
export function emptyTreeOf(place: GitDirectory): string {
  return place.objectFormat === 'sha1'
    ? '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
    : '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321';
}

/** The id for "no object". */
export function zeroIdOf(place: GitDirectory): string {
  return '0'.repeat(place.objectFormat === 'sha1' ? 40 : 64);
}

/** True for a full object id in either format, lower case. */
export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** The id of the object that an expression names; `undefined` if there is none. */
export async function resolveId(place: GitDirectory, expression: string): Promise<string | undefined> {
  const id = await tryGit(place, ['rev-parse', '--verify', '--quiet', '--end-of-options', expression]);
  return id !== undefined && isObjectId(id) ? id : undefined;
}

/** True for a shallow clone: its git directory has a file `shallow` (gitrepository-layout). */
export function isShallow({ commonDir }: Pick<Repository, 'commonDir'>): boolean {
  return existsSync(join(commonDir, 'shallow'));
}

function directoryAt(path: string): string {
  try {
    const found = realpathSync.native(path);
    if (statSync(found).isDirectory()) return found;
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
  const [, owned] = /detected dubious ownership in repository at '(.*)'/.exec(stderr) ?? [];
  if (owned !== undefined)
    return new WritError('GIT_FAILED', {
      message: `\`${owned}\` belongs to another user, so git refuses to read it`,
      detail: { command: args[0], exitCode: code, path: owned, stderr },
      hints: [
        `if you trust its owner: \`git config --global --add safe.directory '${owned.replaceAll("'", "'\\''")}'\``,
      ],
    });
  if (/not a git repository/i.test(stderr)) return new WritError('NOT_A_REPOSITORY', { detail: { path } });
  return gitFailed(args, code, stderr);
}

/**
 * Filter drivers (`filter.<name>.clean`, …) are programs, and no single setting switches them off: each is emptied by
 * name. `refsAreFiles` and `isWhole` are false if the config names another ref storage or a partial clone.
 */
async function readConfig(place: GitDirectory): Promise<{
  readonly known: Pick<Repository, 'settings' | 'isWhole' | 'hasSigning' | 'hasHooksPath' | 'origin'>;
  readonly refsAreFiles: boolean;
  readonly isShared: boolean;
}> {
  const { code, stdout } = await askGit(place, [
    'config',
    '-z',
    '--show-scope',
    '--get-regexp',
    '^(commit\\.gpgsign|core\\.(hookspath|sharedrepository)|filter\\..*\\.(clean|smudge|process|required)|extensions\\.(refstorage|partialclone)|remote\\..*\\.(promisor|partialclonefilter)|remote\\.origin\\.url)$',
  ]);
  const found = new Map(scopedSettings(stdout).map(({ key, value }) => [key, value]));
  const keys = [...found.keys()];
  const filters = keys.filter((key) => key.startsWith('filter.'));
  // Exit code 1 is "no such key"; any higher code is no answer.
  const isKnown = code <= 1;
  return {
    known: {
      hasSigning: !isKnown || found.has('commit.gpgsign'),
      hasHooksPath: !isKnown || found.has('core.hookspath'),
      settings: filters.map((key) => [key, key.endsWith('.required') ? 'false' : '']),
      isWhole: isKnown && !keys.some((key) => /\.(?:promisor|partialclone|partialclonefilter)$/.test(key)),
      ...(isKnown ? { origin: found.get('remote.origin.url') ?? '' } : {}),
    },
    refsAreFiles: isKnown && !found.has('extensions.refstorage'),
    isShared: sharesWithGroup(found.get('core.sharedrepository') ?? ''),
  };
}

/** `core.sharedRepository`: `group`, `all`, or a mode with rights of the group. */
function sharesWithGroup(value: string): boolean {
  if (/^0[0-7]{1,4}$/.test(value)) return (Number.parseInt(value, 8) & 0o020) !== 0;
  return /^(?:group|all|world|everybody|true|yes|on|[12])$/i.test(value);
}

/** Directories of writ that several users write to; what one of them makes in there stays private. */
const sharedState = ['writ', 'writ/git-locks'];

/** Gives them the mode of the git directory, as git does with its own. A user who may only read makes none. */
function shareState(commonDir: string): void {
  const mode = statSync(commonDir).mode & 0o7777;
  for (const name of sharedState) {
    const path = join(commonDir, name);
    try {
      mkdirSync(path, { recursive: true });
      const found = statSync(path);
      if ((found.mode & 0o7777) === mode || found.uid !== process.geteuid?.()) continue;
      chmodSync(path, mode);
    } catch (fault) {
      if (!['EACCES', 'EROFS'].includes((fault as NodeJS.ErrnoException).code ?? '')) throw fault;
    }
  }
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
 * GIT_FAILED if one of these files is a pipe, a socket or a device, directly or by a link: git and writ would wait
 * forever, or read until memory is full.
 */
export function requirePlainFiles(commonDir: string): void {
  const special = read.find((name) => {
    const found = statOf(join(commonDir, name));
    return found && !found.isFile() && !found.isDirectory();
  });
  if (special === undefined) return;
  throw new WritError('GIT_FAILED', {
    message: `expected \`${special}\` in the git directory to be a file, found a pipe, a socket or a device`,
    detail: { path: special },
  });
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * The name of a repository in statements: the remote address in the spec, else that of the remote `origin`, else the
 * first commit of its history. Verifiers refuse a path or `file:` address, which names nothing on another machine.
 */
export async function nameRepository(
  repository: Repository,
  { type, locator }: { readonly type: string; readonly locator: string },
  base: string | undefined,
): Promise<string> {
  const stated = type === 'git' ? remoteUri(locator) : undefined;
  if (stated !== undefined) return stated;
  const remote = remoteUri(await originOf(repository));
  return remote ?? `urn:writ:repository:${(await firstCommit(repository, base)) ?? type}`;
}

/** The address of the remote `origin`; empty if there is none. */
export async function originOf(repository: Repository): Promise<string> {
  return repository.origin ?? (await tryGit(repository, ['config', '--get', 'remote.origin.url'])) ?? '';
}

/** The root of the first-parent history; `undefined` on an unborn branch and in a shallow clone. */
async function firstCommit(repository: Repository, base: string | undefined): Promise<string | undefined> {
  if (base === undefined) return undefined;
  if (isShallow(repository)) return undefined;
  const first = await tryGit(repository, ['rev-list', '--first-parent', '--max-parents=0', base]);
  return first !== undefined && isObjectId(first) ? first : undefined;
}

/**
 * True for a tracked file below `.writ/` that governs writ itself: a patch may change it, with approvals of the
 * signers at the policy commit. Only the exact spelling counts; any other spelling of `.writ` is refused.
 */
export function isGoverningPath(path: string): boolean {
  return isListed(path, governing);
}

function isListed(path: string, { files, folders }: typeof governing): boolean {
  const [root, name = '', ...below] = path.split('/');
  if (root !== '.writ') return false;
  return below.length === 0 ? files.includes(name) : folders.includes(name);
}

/** True for any tracked file below `.writ/`: one that governs writ, or an ordinary file of words for models. */
export function isTrackedState(path: string): boolean {
  return isListed(path, trackedState);
}

/** The tracked files and folders that govern writ. */
const governing: Readonly<Record<'files' | 'folders', readonly string[]>> = {
  files: ['config.toml', 'allowed_signers', 'owners', 'waivers.toml', 'workers', 'baseline.json'],
  folders: ['agents', 'trust'],
};

/** What repositories track below `.writ/`; everything else there is state of one machine. */
export const trackedState: typeof governing = {
  files: [...governing.files, 'memory.md'],
  folders: [...governing.folders, 'commands'],
};
