import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import { askGit, runGit } from '../../workspace/git/git.ts';
import { emptyTreeOf, type Repository } from '../../workspace/git/repository.ts';
import { readHead, resolveCommit } from '../../workspace/git/resolve-commit.ts';
import type { VcsChange } from './parse-vcs-call.ts';

/** A change that could be made now, as a person is asked about it. */
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
      message: `${quoted(nested)} is a repository of its own`,
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
      hints: ['`add` first, or give `--allow-empty`'],
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
    message: `there is a branch ${quoted(branch)} already`,
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
