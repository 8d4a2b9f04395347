/* Reads the settings that all working trees of a repository share. */
import { realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { askGit, gitFailed } from '../workspace/git/git.ts';
import type { Repository } from '../workspace/git/repository.ts';

export interface RepositorySettings {
  /** Root of the main working tree, with links resolved; absent if there is none, or only it knows its place. */
  readonly main?: string;
  /** `core.ignorecase`. */
  readonly ignoreCase: boolean;
  /** `core.precomposeunicode`. */
  readonly precompose: boolean;
}

/** The result is the same in every working tree. GIT_FAILED if git cannot read its config. */
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

/** With a git directory of another name, only the main working tree knows where both are. */
function mainRoot(commonDir: string, named: string | undefined): string | undefined {
  if (named === undefined && basename(commonDir) !== '.git') return undefined;
  try {
    return realpathSync.native(named === undefined ? dirname(commonDir) : resolve(commonDir, named));
  } catch {
    return undefined;
  }
}
