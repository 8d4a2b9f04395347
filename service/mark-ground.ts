import { realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { askGit, gitFailed } from '../core/vcs/git.ts';
import type { Repository } from '../core/vcs/repository.ts';
import { type MarkTrees, markTreesOf } from './mark-trees.ts';

/** What the names of dirty paths are judged by. */
export interface MarkGround {
  /** Root of the work tree that relative paths start from; links resolved. */
  readonly root: string;
  /** `core.ignorecase`: a directory goes by the spelling that it has on the disk. */
  readonly ignoreCase: boolean;
  /** `core.precomposeunicode`: names are kept in NFC. */
  readonly precompose: boolean;
  /** The work trees of the repository now: this one, the main one, the linked ones. */
  readonly trees: () => MarkTrees;
}

/** Asks git once what it takes for the same name here and where the main work tree is; GIT_FAILED where it cannot read its config. */
export async function openMarkGround(repo: Repository): Promise<MarkGround> {
  const flags = await settings(repo, ['--type=bool'], '^core\\.(ignorecase|precomposeunicode|bare)$');
  const own = [repo.root];
  if (repo.gitDir !== repo.commonDir && flags.get('core.bare') !== 'true') {
    const main = await mainRoot(repo);
    if (main !== undefined) own.push(main);
  }
  return {
    root: repo.root,
    ignoreCase: flags.get('core.ignorecase') === 'true',
    precompose: flags.get('core.precomposeunicode') === 'true',
    trees: markTreesOf(repo.commonDir, own),
  };
}

/** The work tree that the common directory belongs to, seen from a linked one; nothing where it is gone. */
async function mainRoot(repo: Repository): Promise<string | undefined> {
  const named = (await settings(repo, [], '^core\\.worktree$')).get('core.worktree');
  if (named === undefined && basename(repo.commonDir) !== '.git') return undefined;
  try {
    return realpathSync.native(
      named === undefined ? dirname(repo.commonDir) : resolve(repo.commonDir, named),
    );
  } catch {
    return undefined;
  }
}

/** Settings of the common directory whose names match; the last of a name wins, as for git. */
async function settings(
  repo: Repository,
  options: readonly string[],
  pattern: string,
): Promise<ReadonlyMap<string, string>> {
  const args = ['config', '-z', ...options, '--get-regexp', pattern];
  const { code, stdout, stderr } = await askGit(repo, args, { env: { GIT_DIR: repo.commonDir } });
  // 1 is "no such key".
  if (code > 1) throw gitFailed(args, code, stderr);
  const found = new Map<string, string>();
  for (const entry of stdout.toString('utf8').split('\0')) {
    const cut = entry.indexOf('\n');
    if (cut > 0) found.set(entry.slice(0, cut), entry.slice(cut + 1));
  }
  return found;
}
