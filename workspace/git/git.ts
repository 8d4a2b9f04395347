/* Starts git with a fixed environment and settings, and turns its failures into errors. */
import { isWritError, WritError } from '../../core/base/errors.ts';
import { execFileBounded, type StartedProcess, startProcess } from '../process/spawn.ts';

/** An object database with its git directory: the user's repository, or a scratch directory over it. */
export interface GitDirectory {
  readonly gitDir: string;
  readonly objectFormat: 'sha1' | 'sha256';
  readonly cwd: string;
  /** Added to the environment of every call; contains GIT_DIR. */
  readonly env: Readonly<Record<string, string>>;
  readonly settings: readonly GitSetting[];
  /** The directory that holds `refs/` and `packed-refs` if they are plain files; absent: only git can read the refs. */
  readonly refsIn?: string;
  /** Filter drivers, which are programs, were not looked up: only commands that never run one are allowed. */
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

/** Most bytes of a listing of paths, refs or objects. */
export const maxListBytes = 512 * 1024 * 1024;
const defaultMaxBytes = 64 * 1024 * 1024;
const maxErrorText = 2000;
/** Commands that run no program for a file of a working tree, with the options that this takes. */
const readers: ReadonlyMap<string | undefined, readonly string[]> = new Map([
  ['cat-file', []],
  ['check-ignore', []],
  ['config', []],
  ['diff-tree', ['--name-only']],
  ['for-each-ref', []],
  ['log', ['--no-show-signature']],
  ['ls-files', []],
  ['ls-tree', []],
  ['merge-base', []],
  ['rev-list', []],
  ['rev-parse', []],
  ['symbolic-ref', []],
]);

/** Runs git and returns its output for any exit code. GIT_MISSING. */
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

/** Runs git and returns stdout; a non-zero exit code is GIT_FAILED with command, code and bounded stderr. */
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

/** The output of `runGit`, split at NULs; the last field is empty. */
export async function gitFields(
  place: GitDirectory,
  args: readonly string[],
  encoding: 'utf8' | 'latin1' = 'utf8',
): Promise<readonly string[]> {
  return (await runGit(place, args, { maxBytes: maxListBytes })).toString(encoding).split('\0');
}

/**
 * The settings in the output of `git config -z --show-scope --get-regexp`, without those that writ passes to its own
 * calls. A key without a value is `true`.
 */
export function scopedSettings(
  output: Buffer,
): readonly { readonly scope: string; readonly key: string; readonly value: string }[] {
  const fields = output.toString('utf8').split('\0').slice(0, -1);
  return fields.flatMap((scope, at) => {
    if (at % 2 === 1 || scope === 'command') return [];
    const [key = '', value = 'true'] = (fields[at + 1] ?? '').split(/\n(.*)/s);
    return [{ scope, key, value }];
  });
}

/** The trimmed output of git; `undefined` for a non-zero exit code. */
export async function tryGit(place: GitDirectory, args: readonly string[]): Promise<string | undefined> {
  const { code, stdout } = await askGit(place, args);
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

/** Starts a git that is used interactively (`cat-file --batch`). */
export function startGit(place: GitDirectory, args: readonly string[], signal?: AbortSignal): StartedProcess {
  return startProcess(gitArgv(place, args), {
    cwd: place.cwd,
    env: environmentOf(place),
    ...(signal === undefined ? {} : { signal }),
  });
}

interface GatedGit extends StartedProcess {
  readonly open: (input: Uint8Array | string) => void;
}

/**
 * Starts a git that waits until `open` is called, so that its pid can be recorded before it locks anything. If this
 * process dies first, git ends without an effect.
 */
export function startGatedGit(place: GitDirectory, args: readonly string[]): GatedGit {
  // The command executes its input and changes nothing without a `commit` line.
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

/** A store that only borrows the objects of a partial clone has no promisor remote, so git names the object alone. */
const missingObject =
  /promisor remote|^(?:error|fatal): (?:invalid object|(?:unable to|could not|failed to) read|bad (?:tree )?object|missing (?:blob|tree) )/im;

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
    ...(missingObject.test(stderr) ? { hints: [howToComplete] } : {}),
  });
}

/** True if git failed because the repository lacks an object. */
export function lacksObjects(fault: unknown): boolean {
  return isGitFault(fault) && missingObject.test(String(fault.detail.stderr));
}

/** True for what `gitFailed` returns. */
export function isGitFault(fault: unknown): fault is WritError {
  return isWritError(fault, 'GIT_FAILED') || isWritError(fault, 'OBJECTS_MISSING');
}

/** Turns a missing program into GIT_MISSING. */
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
  if (onlyReads && readers.get(args[0])?.every((option) => args.includes(option)) !== true)
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

/** Variables that git may read from the caller: paths of programs and config, and the user's identity. */
const passedOn = [
  'PATH',
  'HOME',
  'XDG_CONFIG_HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'EMAIL',
  'SYSTEMROOT',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CEILING_DIRECTORIES',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
] as const;

/**
 * Environment of every git call: an allow list of the caller's variables plus fixed values. GIT_DIR, GIT_INDEX_FILE,
 * GIT_CONFIG_COUNT and the like are not passed on, so a call from a hook or an alias has no effect.
 */
export function gitEnvironment(caller: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of passedOn) {
    const value = caller[name];
    if (value !== undefined) env[name] = value;
  }
  return {
    ...env,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_PAGER: 'cat',
    GIT_EDITOR: ':',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  };
}

/** Added for git directories of our own: no config or attributes of the user or the machine apply. */
export const isolatedGitEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_ATTR_NOSYSTEM: '1',
};

export type GitSetting = readonly [key: string, value: string];

/** Switches off every setting that could start a program, use a network or change what is written. */
const safeSettings: readonly GitSetting[] = [
  ['advice.graftFileDeprecated', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.untrackedCache', 'false'],
  // A commit-graph file can contradict the commits about parents and trees.
  ['core.commitGraph', 'false'],
  ['core.pager', 'cat'],
  ['core.askPass', ''],
  ['core.sshCommand', 'false'],
  ['core.gitProxy', ''],
  // It lists no refs; an empty command is an error, which git would print instead of the cause of a failure.
  ['core.alternateRefsCommand', 'true'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  ['credential.helper', ''],
  ['diff.external', ''],
  ['gpg.program', 'false'],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['protocol.allow', 'never'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['submodule.recurse', 'false'],
  ['i18n.commitEncoding', 'UTF-8'],
  ['core.quotePath', 'true'],
  // Line endings are converted as git stores them; a refusal would come in the middle of the work.
  ['core.safecrlf', 'false'],
  ['advice.detachedHead', 'false'],
];

/** Passed as environment: keys with `=` are possible, and no argument list shows them. */
function settingsEnvironment(more: readonly GitSetting[]): Record<string, string> {
  const settings = [...safeSettings, ...more];
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}
