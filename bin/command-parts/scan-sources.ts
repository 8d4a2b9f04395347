/* The input of `writ scan`: a patch, a range, files or uncommitted changes. */
import { type FSWatcher, watch } from 'node:fs';
import { lstat, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { printable } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Rule } from '../../core/interfaces/rule.ts';
import type { FileSides } from '../../core/interfaces/rule-input.ts';
import type { Rules } from '../../core/kernel/rules.ts';
import { parseConfig, type WritConfig } from '../../engine/config/config.ts';
import { parseWaivers, type Waiver, waiversPath } from '../../engine/config/waivers.ts';
import { readRuleFiles } from '../../engine/evaluate/read-reports.ts';
import { cutDiff, type DiffPiece, readBlocks, type Unscanned } from '../../gates/scan/cut-diff.ts';
import {
  type FilePiece,
  type FileToScan,
  filesAsPieces,
  type ScannedFinding,
} from '../../gates/scan/scan-pieces.ts';
import {
  baselinePath,
  coverKnown,
  identify,
  keyOf,
  parseBaseline,
} from '../../readers/documents/baseline.ts';
import {
  type GitDirectory,
  gitFailed,
  gitFields,
  gitLine,
  runGit,
  startGit,
  withGit,
} from '../../workspace/git/git.ts';
import { keepObjectReaders } from '../../workspace/git/object-reader.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { resolveBase, treeOf } from '../../workspace/git/resolve-commit.ts';
import { createScratch, type Scratch, writingTo } from '../../workspace/git/scratch.ts';
import { writeTree } from '../../workspace/git/write-tree.ts';
import { normalisePatch, plainDiffFlags } from '../../workspace/patch/normalise.ts';
import { patchFromRange, resolveRange } from '../../workspace/patch/read-patch.ts';
import type { CommandContext } from './command.ts';

/** Input of `writ scan`: pieces of a diff, and the files behind them if available. */
interface ScanSource extends AsyncDisposable {
  readonly pieces: AsyncIterable<DiffPiece>;
  readonly filesFor?: (piece: DiffPiece, rule: Rule) => Promise<Readonly<Record<string, FileSides>>>;
  /** Full commit id that is scanned, where it is one. */
  readonly commit?: string;
  /** Both sides of every file are known, so that dependencies can be compared. */
  readonly isWhole: boolean;
  /** The first untracked path, where the working tree is scanned, which leaves such files out. */
  untracked?(): Promise<string | undefined>;
}

type Tell = (unscanned: Unscanned) => void;
type Context = Pick<CommandContext, 'args' | 'options' | 'cwd' | 'repoPath' | 'stdin' | 'signal'>;

const maxFiles = 1_000_000;
const maxTextBytes = 64 * 1024 * 1024;

/**
 * The one source that the command line names: a patch, a range, files, or else what is not committed yet. USAGE for two
 * of them.
 */
export async function openScanSource(
  context: Context,
  tell: Tell,
  around: Repository | undefined,
): Promise<ScanSource> {
  const patch = context.options.value('patch');
  const range = context.options.value('range');
  const given = [patch !== undefined, range !== undefined, context.args.length > 0].filter(Boolean);
  if (given.length > 1) {
    throw new WritError('USAGE', {
      message: 'expected one of `--patch`, `--range` and files, found several',
    });
  }
  if (patch !== undefined) return fromPatch(context, patch, tell);
  if (context.args.length > 0) return fromFiles(context, tell);
  const repository = around ?? (await openRepository(context.repoPath ?? context.cwd));
  return range === undefined ? fromWorktree(repository, context, tell) : fromRange(repository, range);
}

async function fromPatch({ cwd, stdin, signal }: Context, path: string, tell: Tell): Promise<ScanSource> {
  const source = path === '-' ? stdin : readBlocks(resolve(cwd, path), signal);
  if (path === '-') signal.addEventListener('abort', () => stdin.destroy(), { once: true });
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of source) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof WritError) throw cause;
      const found = (cause as NodeJS.ErrnoException).code ?? 'it ended early';
      throw new WritError('INPUT_UNREADABLE', {
        message: `\`${path}\` cannot be read: ${found}`,
        detail: { path, found },
        cause,
      });
    }
  }
  return { pieces: cutDiff(read(), { onUnscanned: tell }), isWhole: false, ...nothingToClose };
}

async function fromRange(repository: Repository, range: string): Promise<ScanSource> {
  const resolved = await resolveRange(repository, range);
  const source = await fromTrees(repository, (scratch) => patchFromRange(scratch, resolved));
  return { ...source, commit: resolved.tip };
}

/**
 * The text of one document of a working tree, which may not be saved yet, against HEAD. PATCH_EMPTY if it does not
 * differ.
 */
export async function fromDocument(repository: Repository, path: string, text: string): Promise<ScanSource> {
  const base = await resolveBase(repository, 'HEAD');
  const entry = await gitLine(repository, ['ls-tree', base.tree, path]);
  const mode = /^(100644|100755) /.exec(entry)?.[1] ?? '100644';
  return fromTrees(repository, async (scratch) => {
    // As `git add` would store it, with line ends and filters.
    const hash = ['hash-object', '-w', '--stdin', '--path', path];
    const object = await gitLine(writingTo(scratch, repository), hash, { input: text });
    const changed = new Map([[path, { mode, object }]]);
    return normalisePatch(
      scratch,
      base,
      await writeTree({ from: repository, to: scratch }, changed, base.tree),
    );
  });
}

/** A change between two trees, whose objects may be in a scratch. */
async function fromTrees(
  repository: Repository,
  read: (scratch: Scratch) => Promise<PatchSet>,
): Promise<ScanSource> {
  const directory = await mkdtemp(join(tmpdir(), 'writ-scan-'));
  const readers = keepObjectReaders();
  const close = async (): Promise<void> => {
    await readers[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const scratch = await createScratch(join(directory, 'scratch'), repository);
    const patch = await read(scratch);
    readers.keep(scratch);
    return {
      pieces: one(patch),
      filesFor: (_, rule) => readRuleFiles(scratch, patch, rule),
      isWhole: true,
      [Symbol.asyncDispose]: close,
    };
  } catch (fault) {
    await close();
    throw fault;
  }
}

async function* one(patch: PatchSet): AsyncGenerator<DiffPiece> {
  yield patch;
}

async function fromFiles({ args, cwd }: Context, tell: Tell): Promise<ScanSource> {
  const files: FileToScan[] = [];
  for (const argument of args) await collect(cwd, resolve(cwd, argument), files, tell, true);
  return {
    pieces: filesAsPieces(files, tell),
    filesFor: async (piece) => (piece as FilePiece).sides,
    isWhole: false,
    ...nothingToClose,
  };
}

/**
 * Collects the files below a directory. Skips `.git` and non-regular files. Does not follow symlinks below the named
 * path.
 */
async function collect(
  cwd: string,
  absolute: string,
  files: FileToScan[],
  tell: Tell,
  isNamed = false,
): Promise<void> {
  const path = relative(cwd, absolute).split(sep).join('/') || '.';
  const found = await (isNamed ? stat : lstat)(absolute).catch((cause: NodeJS.ErrnoException) => {
    if (!isNamed) return undefined;
    throw new WritError('INPUT_UNREADABLE', {
      message: `\`${path}\` cannot be read: ${cause.code === 'ENOENT' ? 'no such file' : cause.code}`,
      detail: { path, found: cause.code },
      cause,
    });
  });
  if (found?.isFile()) {
    files.push({ path, absolute });
    if (files.length > maxFiles) {
      throw new WritError('INPUT_TOO_LARGE', {
        message: `expected at most ${maxFiles} files`,
        detail: { maxFiles },
      });
    }
  } else if (found?.isDirectory()) {
    for (const name of (await readdir(absolute)).sort()) {
      if (name !== '.git') await collect(cwd, join(absolute, name), files, tell);
    }
  } else if (isNamed) tell({ path, reason: 'it is no regular file' });
}

async function fromWorktree(repository: Repository, { signal }: Context, tell: Tell): Promise<ScanSource> {
  const diff = gitOutput(repository, ['diff', ...plainDiffFlags, 'HEAD', '--'], signal);
  const untracked = async (): Promise<string | undefined> => {
    const listed = await runGit(repository, [
      'ls-files',
      '-z',
      '--others',
      '--exclude-standard',
      '--directory',
    ]);
    const [first = ''] = listed.toString('utf8').split('\0');
    return first === '' ? undefined : printable(first);
  };
  return { pieces: cutDiff(diff, { onUnscanned: tell }), isWhole: false, untracked, ...nothingToClose };
}

/**
 * The directories of tracked files, parents first, and the git directory, where commits and `git add` show. A listing
 * by git follows no symlink and has no ignored directory.
 */
export async function trackedDirectories({ root, gitDir, ...place }: Repository): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of await gitFields({ gitDir, ...place }, ['ls-files', '-z']))
    for (let at = dirname(path); at !== '.' && !found.has(at); at = dirname(at)) found.add(at);
  const below = [...found].sort((a, b) => a.length - b.length);
  return [gitDir, root, ...below.map((path) => join(root, path))];
}

/** More watches would be missed by other programs. */
const maxWatched = 8192;
/** Interval of looking where the system does not watch. */
const pollMs = 2000;
/** An editor empties a file before it writes it, and a checkout writes many. */
const settleMs = 100;

/**
 * Yields at once, and again after something has changed in these directories (not below them), which are listed each
 * time. A change while the caller is at work is not lost. Throws the signal's reason.
 */
export async function* changesIn(
  list: () => Promise<readonly string[]>,
  signal: AbortSignal,
): AsyncGenerator<void, never, undefined> {
  for (;;) {
    const { promise: changed, resolve: wake } = Promise.withResolvers<void>();
    const watchers: FSWatcher[] = [];
    const over = new AbortController();
    signal.addEventListener('abort', () => wake(), { signal: over.signal });
    try {
      signal.throwIfAborted();
      const isWatched = watchAll(await list(), wake, watchers);
      yield;
      if (!isWatched) wait(pollMs, undefined, { signal: over.signal }).then(wake, () => {});
      await changed;
    } finally {
      over.abort();
      for (const one of watchers) one.close();
    }
    await wait(settleMs);
  }
}

/** False if the system does not watch all of them. */
function watchAll(directories: readonly string[], wake: () => void, watchers: FSWatcher[]): boolean {
  if (directories.length > maxWatched) return false;
  for (const one of directories) {
    try {
      watchers.push(watch(one, wake).on('error', wake));
    } catch (fault) {
      // Its parent, which is watched, shows when it comes.
      if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') return false;
    }
  }
  return true;
}

/** What a git command prints, as it comes. GIT_FAILED and OBJECTS_MISSING at its end. */
export async function* gitOutput(
  place: GitDirectory,
  args: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const git = startGit(place, args, signal);
  git.stdin.end();
  for await (const chunk of git.stdout) yield chunk;
  const { code, stderr } = await withGit(() => git.exited);
  if (code !== 0) throw gitFailed(args, code, stderr.toString('utf8'));
}

const nothingToClose = { [Symbol.asyncDispose]: async (): Promise<void> => {} };

type OptionsContext = Pick<CommandContext, 'options' | 'cwd' | 'repoPath'>;

/** A scan of files or of a patch needs no repository. */
const elsewhere = ['NOT_A_REPOSITORY', 'BARE_REPOSITORY', 'GIT_MISSING'] as const;

/** What the repository says about rules. */
interface ScanOptions {
  /** `[rules.<id>]`, by rule id. */
  readonly rules: WritConfig['rules'];
  readonly waivers: readonly Waiver[];
}

/**
 * Returns `[rules.<id>]` and the waivers from the repository of the scan, at the change's base: A of `--range A..B`,
 * else HEAD. Never reads the working tree or the candidate. Empty outside a repository. Throws CONFIG_INVALID.
 */
export async function readScanOptions(
  context: OptionsContext,
  known: Rules,
  around?: Repository,
): Promise<ScanOptions> {
  const repository = around ?? (await repositoryAround(context));
  return repository === undefined
    ? { rules: {}, waivers: [] }
    : readOptionsAt(repository, await policyTree(context, repository), known);
}

/** The repository of a scan; `undefined` outside of one, if `--repo` does not name it. */
export async function repositoryAround({
  repoPath,
  cwd,
}: Pick<Context, 'repoPath' | 'cwd'>): Promise<Repository | undefined> {
  return openRepository(repoPath ?? cwd).catch((fault: unknown) => {
    if (repoPath === undefined && elsewhere.some((code) => isWritError(fault, code))) return undefined;
    throw fault;
  });
}

/** The same at a policy commit. CONFIG_INVALID. */
export async function readOptionsAt(
  repository: Repository,
  tree: string,
  known: Rules,
): Promise<ScanOptions> {
  const bytes = await readBlob(repository, tree, '.writ/config.toml');
  // A scan does not run plugin rules and does not know their ids, so their options are not an error.
  const { plugins, rules } = parseConfig(bytes, sealingForms);
  const isWhole = plugins.length === 0;
  const waivers = await readBlob(repository, tree, waiversPath);
  return {
    rules: isWhole ? parseConfig(bytes, { ...sealingForms, ruleIds: known.ids }).rules : rules,
    waivers: parseWaivers(waivers, { ids: known.ids, get: known.get, isWhole }),
  };
}

/**
 * Returns the findings in named files, with those that the baseline at HEAD names as notes. Of equal ones in a file as
 * many are known as the baseline has. BASELINE_INVALID.
 */
export async function noteKnownIn(
  context: Context,
  rules: readonly Rule[],
  findings: readonly ScannedFinding[],
  repository: Repository | undefined,
): Promise<readonly ScannedFinding[]> {
  if (repository === undefined || context.args.length === 0) return findings;
  const { tree } = await resolveBase(repository, 'HEAD');
  const bytes = await readBlob(repository, tree, baselinePath);
  if (bytes === undefined) return findings;
  const known = parseBaseline(bytes);
  const named = new Set(known.map(({ path }) => path));
  const { root } = repository;
  const textAt = (path: string): string | undefined =>
    readPlain(join(root, path), maxTextBytes).bytes?.toString('latin1');
  const identityOf = (finding: Finding) => {
    const rule = rules.find(({ id }) => id === finding.rule);
    const path = relative(root, resolve(context.cwd, finding.path ?? ''))
      .split(sep)
      .join('/');
    return rule && named.has(path) ? identify(rule, { ...finding, path }, textAt) : undefined;
  };
  return coverKnown(findings, identityOf, new Map(known.map((one) => [keyOf(one), one.count])));
}

async function policyTree({ options }: OptionsContext, repository: Repository): Promise<string> {
  const range = options.value('range');
  if (range === undefined) return (await resolveBase(repository, 'HEAD')).tree;
  // Not where the two parted: a branch that was made before a rule was tightened does not escape it.
  const { from } = await resolveRange(repository, range);
  return treeOf(repository, from);
}
