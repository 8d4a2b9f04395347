/** Plans and makes version control changes. */
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import { filteredPaths } from '../../workspace/git/dirty-paths.ts';
import { askGit, type GitSetting, gitFailed, gitLine, runGit } from '../../workspace/git/git.ts';
import { withIndex } from '../../workspace/git/held-index.ts';
import { askLockingGit, lockedFault } from '../../workspace/git/locks.ts';
import { emptyTreeOf, openRepository, type Repository } from '../../workspace/git/repository.ts';
import { readHead, resolveCommit } from '../../workspace/git/resolve-commit.ts';
import type { VcsChange } from './answer-vcs-question.ts';

/**
 * On top of what every git call of writ has switched off: what a person's settings would change in the form of an
 * answer, or let git look into submodules for, where their own settings name programs.
 */
const plainSettings: readonly GitSetting[] = [
  ['color.ui', 'false'],
  ['color.branch', 'false'],
  ['color.diff', 'false'],
  ['color.status', 'false'],
  ['column.ui', 'never'],
  ['status.submoduleSummary', 'false'],
  ['diff.ignoreSubmodules', 'dirty'],
  ['diff.submodule', 'short'],
  ['log.showSignature', 'false'],
  ['log.mailmap', 'false'],
  ['log.follow', 'false'],
  ['merge.autoStash', 'false'],
  ['commit.status', 'false'],
  ['commit.verbose', 'false'],
  ['checkout.workers', '1'],
  ['branch.autoSetupMerge', 'false'],
];

/** Opens the session's repository for `run_writ_vcs`. Errors as of `openRepository`. */
export async function openSessionRepository(path: string): Promise<Repository> {
  const repository = await openRepository(path);
  return { ...repository, settings: [...repository.settings, ...plainSettings] };
}

/** A change that could be made now, as the question about it shows it. */
export interface PlannedChange {
  readonly change: VcsChange;
  /** One sentence. */
  readonly title: string;
  /** What it rests on: where that is another text when the change is made, it is not the one that was approved. */
  readonly ground: string;
  /** Files that it is about. */
  readonly paths: readonly string[];
  /** Of a commit that it starts from, or goes to. */
  readonly commit?: string;
}

const maxBytes = 64 * 1024 * 1024;

/** Looks what a change would do. Refuses what could not be done: REF_NOT_FOUND, UNSUPPORTED_OPERATION. */
export async function planVcsChange(
  repository: Repository,
  change: VcsChange,
  signal: AbortSignal,
): Promise<PlannedChange> {
  const { commit: head } = await readHead(repository);
  if (change.command === 'add') return planAdd(repository, change, signal);
  if (change.command === 'commit') return planCommit(repository, change, head, signal);
  if (change.command === 'branch') return planBranch(repository, change);
  const { how, to } = change;
  if (how === 'new') await refuseBranch(repository, to);
  const commit = await resolveCommit(
    repository,
    how === 'new' ? change.start : how === 'branch' ? `refs/heads/${to}` : to,
  );
  const paths =
    head === undefined
      ? []
      : await listed(
          repository,
          ['diff-tree', '-r', '-z', '--name-only', '--no-renames', head, commit],
          signal,
        );
  const where =
    how === 'detached'
      ? `commit ${commit.slice(0, 12)}`
      : how === 'new'
        ? `the new branch ${quoted(to)}`
        : `branch ${quoted(to)}`;
  return planned(change, `switch the working tree to ${where}`, `${head} ${commit}`, paths, commit);
}

async function planAdd(
  repository: Repository,
  change: Extract<VcsChange, { command: 'add' }>,
  signal: AbortSignal,
): Promise<PlannedChange> {
  const kinds = [
    '--modified',
    '--deleted',
    ...(change.what === 'all' ? ['--others', '--exclude-standard'] : []),
  ];
  const paths = [
    ...new Set(await listed(repository, ['ls-files', '-z', ...kinds, '--', ...change.paths], signal)),
  ];
  const nested = paths.find((path) => path.endsWith('/'));
  if (nested !== undefined)
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `${quoted(nested)} is another git repository`,
      detail: { path: nested },
      hints: ['name the other paths, or make it a submodule with git itself'],
    });
  return planned(change, `stage ${counted(paths.length)}`, paths.join('\0'), paths);
}

async function planCommit(
  repository: Repository,
  change: Extract<VcsChange, { command: 'commit' }>,
  head: string | undefined,
  signal: AbortSignal,
): Promise<PlannedChange> {
  const against = head ?? emptyTreeOf(repository);
  const args = [
    'diff-index',
    '--cached',
    '--raw',
    '-z',
    '--no-renames',
    '--ignore-submodules=none',
    against,
    '--',
  ];
  const told = await runGit(repository, args, { maxBytes, signal });
  const paths = told
    .toString('utf8')
    .split('\0')
    .filter((_, at) => at % 2 === 1);
  if (paths.length === 0 && !change.mayBeEmpty)
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: 'nothing is staged',
      hints: ['stage files with `add` first, or pass `--allow-empty`'],
    });
  const title = `commit ${counted(paths.length)}: ${quoted(change.message.split('\n', 1)[0] ?? '')}`;
  return planned(change, title, `${against} ${told.toString('base64')}`, paths);
}

async function planBranch(
  repository: Repository,
  change: Extract<VcsChange, { command: 'branch' }>,
): Promise<PlannedChange> {
  const { how, branch } = change;
  if (how === 'create') {
    await refuseBranch(repository, branch);
    const commit = await resolveCommit(repository, change.start);
    return planned(change, `create branch ${quoted(branch)} at ${commit.slice(0, 12)}`, commit, [], commit);
  }
  const commit = await resolveCommit(repository, `refs/heads/${branch}`);
  const even = how === 'delete' ? '' : ', even if nothing else holds its commits';
  return planned(
    change,
    `delete branch ${quoted(branch)} at ${commit.slice(0, 12)}${even}`,
    commit,
    [],
    commit,
  );
}

async function refuseBranch(repository: Repository, branch: string): Promise<void> {
  const { code } = await askGit(repository, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `refs/heads/${branch}`,
  ]);
  if (code !== 0) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `the branch ${quoted(branch)} already exists`,
    detail: { branch },
  });
}

async function listed(
  repository: Repository,
  args: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const told = (await runGit(repository, args, { maxBytes, signal })).toString('utf8');
  return told.split('\0').filter((path) => path !== '');
}

function planned(
  change: VcsChange,
  title: string,
  ground: string,
  paths: readonly string[],
  commit?: string,
): PlannedChange {
  const some = { change, title, ground, paths };
  return commit === undefined ? some : { ...some, commit };
}

function counted(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}

/**
 * Makes an approved change and reports it. WORKSPACE_CHANGED if its preconditions differ from the plan. It cannot be
 * aborted once it has begun.
 */
export async function makeVcsChange(
  repository: Repository,
  approved: PlannedChange,
  signal: AbortSignal,
): Promise<string> {
  const now = await planVcsChange(repository, approved.change, signal);
  if (now.ground !== approved.ground) {
    const message = 'what it rests on has changed since it was looked at';
    throw new WritError('WORKSPACE_CHANGED', { message, hints: ['ask for it again'] });
  }
  const { change, paths, commit = '' } = now;
  if (change.command === 'add' || change.command === 'switch') await refuseFilters(repository, paths, signal);
  signal.throwIfAborted();
  if (change.command === 'add') return stage(repository, paths);
  if (change.command === 'commit') {
    const empty = change.mayBeEmpty ? ['--allow-empty'] : [];
    const plain = ['--quiet', '--no-verify', '--no-gpg-sign', '--no-status', '--cleanup=whitespace'];
    await moved(repository, ['commit', ...plain, ...empty, '-F', '-'], change.message);
    return `${await gitLine(repository, ['rev-parse', '--short=12', 'HEAD'])} ${now.title}`;
  }
  if (change.command === 'branch') {
    const { branch, how } = change;
    const forms = {
      create: ['--no-track', branch, commit],
      delete: ['--delete', branch],
      'delete-unmerged': ['-D', branch],
    };
    await moved(repository, ['branch', '--quiet', ...forms[how]]);
    return `done: ${now.title}`;
  }
  const { to, how } = change;
  const forms = { branch: [to], detached: ['--detach', commit], new: ['--no-track', '--create', to, commit] };
  const plain = ['--quiet', '--no-guess', '--no-recurse-submodules', '--no-progress'];
  await moved(repository, ['switch', ...plain, ...forms[how]]);
  return `done: ${now.title}`;
}

/** By plumbing: `git add` would look into submodules, where settings of theirs name programs. */
async function stage(repository: Repository, paths: readonly string[]): Promise<string> {
  if (paths.length === 0) return 'nothing to stage: what was named is as it was, or is ignored';
  await withIndex(repository, async ({ ask, keep }) => {
    const args = ['update-index', '--add', '--remove', '-z', '--stdin'];
    const { code, stderr } = await ask(args, paths.map((path) => `${path}\0`).join(''));
    if (code !== 0) throw gitFailed(args, code, stderr);
    keep();
  });
  return [`staged ${paths.length}:`, ...paths.map((path) => `  ${JSON.stringify(path)}`)].join('\n');
}

/** If writ or git is killed, no lock file remains. */
async function moved(repository: Repository, args: readonly string[], input = ''): Promise<void> {
  const locks = [{ path: join(repository.gitDir, 'HEAD.lock'), contents: [] }];
  const { code, stderr, lock } = await askLockingGit(repository, args, { input, locks });
  if (code === 0) return;
  if (lock !== undefined) throw lockedFault(args[0], lock);
  throw gitFailed(args, code, stderr);
}

const maxShown = 10;

/**
 * Filter drivers are programs, and none runs here. What one of them would have changed on its way (large files,
 * encrypted ones) must not go that way without it: UNSUPPORTED_OPERATION, naming the paths.
 */
async function refuseFilters(
  repository: Repository,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const found = await filteredPaths(repository, paths, signal);
  const [first] = found;
  if (first === undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `\`${first.path}\` goes through the filter \`${first.filter}\`, which is a program, and writ runs no program of the repository here`,
    detail: { filters: found.slice(0, maxShown), count: found.length },
    hints: ['use git itself for this file'],
  });
}
