import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { filteredPaths } from '../../workspace/git/dirty-paths.ts';
import { gitFailed, gitLine } from '../../workspace/git/git.ts';
import { withIndex } from '../../workspace/git/held-index.ts';
import { askLockingGit, lockedFault } from '../../workspace/git/locks.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type PlannedChange, planVcsChange } from './plan-vcs-change.ts';

/**
 * Makes a change that was let through, and says what it did. WORKSPACE_CHANGED where what it rests on is no longer
 * what was planned: whoever approved it saw something else. Once it has begun it is not cut off.
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

/** Nothing of it is left locked where we or it are killed. */
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
    message: `\`${first.path}\` goes through the filter \`${first.filter}\`, which is a program, and none of the repository's runs here`,
    detail: { filters: found.slice(0, maxShown), count: found.length },
    hints: ['do it with git itself, outside of writ'],
  });
}
