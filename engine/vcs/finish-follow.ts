import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { type ChangedEntry, changedEntries, type EntrySide } from './changed-entries.ts';
import { runGit } from './git.ts';
import { type HeldIndex, withIndex } from './index-transaction.ts';
import type { Target } from './plan-target.ts';
import { emptyTreeOf, type Repository, zeroIdOf } from './repository.ts';
import { readHead } from './resolve-commit.ts';
import { settleGit } from './stale-locks.ts';
import { type FollowOutcome, isOnTarget } from './swap-target.ts';
import { classifyPaths } from './torn-paths.ts';

/** `left`: paths where the person has changes of their own; they were not touched. */
export type FinishOutcome = FollowOutcome & { readonly left?: readonly string[] };

const submoduleMode = '160000';

/**
 * Takes up a `followWorktree` that was stopped at any instant: every path of the change that stands as it was before,
 * as it shall be, half written or not at all is brought to the new commit, index included. What else stands there is
 * the person's and stays. May itself be stopped and done again; where everything has followed already it changes
 * nothing.
 */
export async function finishFollow(repo: Repository, target: Target, commit: string): Promise<FinishOutcome> {
  // A read-tree that outlived its writ is still writing.
  await settleGit(repo);
  if (!(await isOnTarget(repo, target))) return { state: 'not-checked-out' };
  if ((await readHead(repo)).commit !== commit)
    return { state: 'failed', reason: `\`${target.ref}\` has moved on since` };
  const changes = await changedEntries(repo, target.expected ?? emptyTreeOf(repo), commit);
  return withIndex(repo, {}, async (index) => {
    const staged = await readIndex(index);
    const isOurs = ({ path, before, after }: ChangedEntry): boolean => {
      const found = staged.get(path) ?? '';
      return found === keyOf(before) || found === keyOf(after);
    };
    const hidden = await hiddenPaths(index);
    const ours = changes.filter(isOurs);
    const files = ours.filter(
      ({ path, before, after }) => !hidden.has(path) && isFile(before) && isFile(after),
    );
    // First what goes: a file may be where a directory is needed, or the reverse.
    const gone = files.filter(({ after }) => after === undefined);
    const removed = await classifyPaths(repo, gone);
    for (const { path } of gone) if (removed.get(path) === 'ours') await removeFile(repo.root, path);
    const coming = files.filter(({ after }) => after !== undefined);
    const standing = await classifyPaths(repo, coming);

    const stale = ours.filter(({ path, after }) => (staged.get(path) ?? '') !== keyOf(after));
    const zero = zeroIdOf(repo);
    await askIndex(
      index,
      ['update-index', '-z', '--index-info'],
      stale.map((one) => toIndexInfo(one, zero)).join(''),
    );
    const kept = stale.filter(({ path, after }) => after !== undefined && hidden.has(path));
    await askIndex(index, ['update-index', '-z', '--skip-worktree', '--stdin'], listed(kept));
    const torn = coming.filter(({ path }) => ['ours', 'absent'].includes(standing.get(path) ?? ''));
    await askIndex(index, ['checkout-index', '--force', '-u', '-z', '--stdin'], listed(torn));
    // Its exit code says that something differs, which the person's own changes do.
    await index.ask(['update-index', '-q', '--refresh']);
    index.keep();
    const left = changes.filter(
      (one) => !isOurs(one) || removed.get(one.path) === 'left' || standing.get(one.path) === 'left',
    );
    return left.length === 0
      ? { state: 'followed' }
      : { state: 'followed', left: left.map(({ path }) => path) };
  });
}

export function listed(entries: readonly Pick<ChangedEntry, 'path'>[]): string {
  return entries.map(({ path }) => `${path}\0`).join('');
}

/** Mode and object of each path in the index; of an unmerged path, what no side of ours can be. */
export async function readIndex({ repo }: HeldIndex): Promise<ReadonlyMap<string, string>> {
  const listed = await runGit(repo, ['ls-files', '-s', '-z'], { maxBytes: 512 * 1024 * 1024 });
  const found = new Map<string, string>();
  for (const record of listed.toString('utf8').split('\0')) {
    const [, mode = '', object = '', stage = '', path = ''] = /^(\d+) (\w+) (\d)\t(.*)$/s.exec(record) ?? [];
    if (path !== '') found.set(path, stage === '0' ? keyOf({ mode, object }) : 'unmerged');
  }
  return found;
}

/** Paths that a sparse checkout keeps out of the work tree. */
async function hiddenPaths({ repo }: HeldIndex): Promise<ReadonlySet<string>> {
  const listed = await runGit(repo, ['ls-files', '-t', '-z'], { maxBytes: 512 * 1024 * 1024 });
  const records = listed.toString('utf8').split('\0');
  return new Set(records.filter((record) => record.startsWith('S ')).map((record) => record.slice(2)));
}

export function toIndexInfo({ path, after }: Pick<ChangedEntry, 'path' | 'after'>, zero: string): string {
  return after === undefined ? `0 ${zero}\t${path}\0` : `${after.mode} ${after.object}\t${path}\0`;
}

export async function askIndex(index: HeldIndex, args: readonly string[], input: string): Promise<void> {
  if (input === '') return;
  const { code, stderr } = await index.ask(args, input);
  if (code === 0) return;
  throw new WritError('GIT_FAILED', {
    message: `\`git ${args[0]}\` failed: ${stderr.trim().slice(0, 500)}`,
    detail: { command: args[0], exitCode: code, stderr },
  });
}

/** Removes a file and the directories that it leaves empty, as git does. */
export async function removeFile(root: string, path: string): Promise<void> {
  await rm(join(root, path), { force: true });
  for (let above = dirname(path); above !== '.'; above = dirname(above)) {
    const isRemoved = await rmdir(join(root, above)).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

export function keyOf(side: EntrySide | undefined): string {
  return side === undefined ? '' : `${side.mode} ${side.object}`;
}

function isFile(side: EntrySide | undefined): boolean {
  return side?.mode !== submoduleMode;
}
