import { realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { askGit, gitFailed } from '../workspace/git/git.ts';
import type { Repository } from '../workspace/git/repository.ts';

/** What the git directory that all work trees share says of them. */
export interface RepositorySettings {
  /**
   * Root of the main work tree, links resolved; absent where there is none, or where not every work tree could find it.
   */
  readonly main?: string;
  /** `core.ignorecase`. */
  readonly ignoreCase: boolean;
  /** `core.precomposeunicode`. */
  readonly precompose: boolean;
}

/** The same answer from every work tree, by one question to git; GIT_FAILED where it cannot read its config. */
export async function readRepositorySettings(repo: Repository): Promise<RepositorySettings> {
  const keys = '^core\\.(bare|worktree|ignorecase|precomposeunicode)$';
  const args = ['config', '-z', '--get-regexp', keys];
  const { code, stdout, stderr } = await askGit(repo, args, { env: { GIT_DIR: repo.commonDir } });
  // 1 is "no such key".
  if (code > 1) throw gitFailed(args, code, stderr);
  const values = new Map<string, string>();
  for (const entry of stdout.toString('utf8').split('\0')) {
    const [key = '', value = 'true'] = entry.split('\n', 2);
    values.set(key, value);
  }
  const isSet = (key: string): boolean => /^(?:true|yes|on|[1-9][0-9]*)$/i.test(values.get(key) ?? '');
  const main = isSet('core.bare') ? undefined : mainRoot(repo.commonDir, values.get('core.worktree'));
  return {
    ...(main === undefined ? {} : { main }),
    ignoreCase: isSet('core.ignorecase'),
    precompose: isSet('core.precomposeunicode'),
  };
}

/** A git directory of another name stands apart from its work tree, and only that one knows where. */
function mainRoot(commonDir: string, named: string | undefined): string | undefined {
  if (named === undefined && basename(commonDir) !== '.git') return undefined;
  try {
    return realpathSync.native(named === undefined ? dirname(commonDir) : resolve(commonDir, named));
  } catch {
    return undefined;
  }
}
