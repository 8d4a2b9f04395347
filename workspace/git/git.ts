import { isWritError, WritError } from '../../core/base/errors.ts';
import { execFileBounded, type StartedProcess, startProcess } from '../process/spawn.ts';
import { type GitSetting, gitEnvironment, settingsEnvironment } from './git-environment.ts';

/** A place where git keeps objects: the person's repository, or a scratch directory of ours over it. */
export interface GitDirectory {
  readonly gitDir: string;
  readonly objectFormat: 'sha1' | 'sha256';
  /** Working directory of git calls. */
  readonly cwd: string;
  /** Added to the environment of every call; GIT_DIR is in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Settings added to every call. */
  readonly settings: readonly GitSetting[];
  /**
   * The directory that holds `refs/` and `packed-refs`, where they are plain files; absent: only git can read the refs.
   */
  readonly refsIn?: string;
  /**
   * Nobody has looked for filter drivers, which are programs: only commands that never run one are asked here.
   */
  readonly onlyReads?: true;
}

export interface GitCall {
  readonly input?: Uint8Array | string;
  readonly env?: Readonly<Record<string, string>>;
  /** Most bytes of standard output; default 64 MiB. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
}

export interface GitAnswer {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const defaultMaxBytes = 64 * 1024 * 1024;
const maxErrorText = 2000;
/** What reads objects, refs, config and rules of what is ignored, and runs no program for a file of a work tree. */
const readers: readonly (string | undefined)[] = [
  'cat-file',
  'check-ignore',
  'config',
  'for-each-ref',
  'ls-files',
  'ls-tree',
  'merge-base',
  'rev-list',
  'rev-parse',
  'symbolic-ref',
];

/** Runs git and answers whatever its exit code is; GIT_MISSING where there is no git. */
export async function askGit(
  place: GitDirectory,
  args: readonly string[],
  call: GitCall = {},
): Promise<GitAnswer> {
  const answer = await withGit(() =>
    execFileBounded(gitArgv(place, args), {
      cwd: place.cwd,
      env: environmentOf(place, call.env),
      maxBytes: call.maxBytes ?? defaultMaxBytes,
      ...(call.input === undefined ? {} : { input: call.input }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    }),
  );
  return { code: answer.code, stdout: answer.stdout, stderr: boundedText(answer.stderr) };
}

/**
 * Runs git and answers its output; any exit code but 0 is GIT_FAILED with the command's name, code and bounded error
 * text.
 */
export async function runGit(
  place: GitDirectory,
  args: readonly string[],
  call: GitCall = {},
): Promise<Buffer> {
  const { code, stdout, stderr } = await askGit(place, args, call);
  if (code !== 0) throw gitFailed(args, code, stderr);
  return stdout;
}

/** `runGit` for one line of text. */
export async function gitLine(
  place: GitDirectory,
  args: readonly string[],
  call: GitCall = {},
): Promise<string> {
  return (await runGit(place, args, call)).toString('utf8').replace(/\n$/, '');
}

/** Starts a git that is talked to while it runs (`cat-file --batch`). */
export function startGit(place: GitDirectory, args: readonly string[], signal?: AbortSignal): StartedProcess {
  return startProcess(gitArgv(place, args), {
    cwd: place.cwd,
    env: environmentOf(place),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A git that has begun nothing yet. */
export interface GatedGit extends StartedProcess {
  readonly open: (input: Uint8Array | string) => void;
}

/**
 * Starts a git that does nothing until `open` is called, with the pid that it will have: so that who it is can be
 * written down before it takes a lock. Where we are gone before that, it ends without having begun.
 */
export function startGatedGit(place: GitDirectory, args: readonly string[]): GatedGit {
  // It does what its input says, and where that ends before a `commit`, nothing.
  if (args[0] === 'update-ref' && args.includes('--stdin')) {
    const git = startGit(place, args);
    return { ...git, open: (input) => void git.stdin.end(input) };
  }
  const started = startProcess(['/bin/sh', '-c', 'read -r go && exec "$@"', 'sh', ...gitArgv(place, args)], {
    cwd: place.cwd,
    env: environmentOf(place),
  });
  return {
    ...started,
    open: (input) => {
      started.stdin.write('go\n');
      started.stdin.end(input);
    },
  };
}

const howToComplete =
  'objects are missing here: of a partial clone `git fetch --refetch --no-filter` brings them, of any other `git fsck` says which';

/**
 * The fault for a git command that ended with `code`: OBJECTS_MISSING if it needs an object that a partial clone left
 * out (writ never lets git fetch one), else GIT_FAILED.
 */
export function gitFailed(args: readonly string[], code: number, stderr: string): WritError {
  const detail = { command: args[0], exitCode: code, stderr };
  const [, absent] = /could not fetch ([0-9a-f]{40,64}) from promisor remote/.exec(stderr) ?? [];
  if (absent !== undefined)
    return new WritError('OBJECTS_MISSING', {
      message: `the object \`${absent}\` is not in this partial clone, and \`git ${args[0]}\` needs it`,
      detail: { ...detail, objects: [absent] },
      hints: ['fetch all objects: `git fetch --refetch --no-filter`'],
    });
  return new WritError('GIT_FAILED', {
    message: `\`git ${args[0]}\` failed: ${stderr.trim().split('\n').at(-1) ?? ''}`.trimEnd(),
    detail,
    ...(/promisor remote|^error: invalid object/m.test(stderr) ? { hints: [howToComplete] } : {}),
  });
}

/** True for what `gitFailed` returns. */
export function isGitFault(fault: unknown): fault is WritError {
  return isWritError(fault, 'GIT_FAILED') || isWritError(fault, 'OBJECTS_MISSING');
}

/** Turns "the program could not be found" into GIT_MISSING; everything else stays what it is. */
export async function withGit<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (isWritError(cause, 'SPAWN_FAILED') && cause.detail.errno === 'ENOENT')
      throw new WritError('GIT_MISSING', { cause });
    throw cause;
  }
}

function gitArgv({ onlyReads }: GitDirectory, args: readonly string[]): readonly string[] {
  if (onlyReads && !readers.includes(args[0]))
    throw new WritError('INTERNAL', { message: `\`git ${args[0]}\` in a repository that is only read` });
  return ['git', '--no-pager', ...args];
}

function environmentOf(
  place: GitDirectory,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { ...gitEnvironment(process.env), ...settingsEnvironment(place.settings), ...place.env, ...more };
}

function boundedText(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.length <= maxErrorText ? text : `${text.slice(0, maxErrorText)}…`;
}
