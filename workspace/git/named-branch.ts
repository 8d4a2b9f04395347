import { askGit } from './git.ts';
import { isRefName } from './ref-name.ts';
import { readRef } from './refs.ts';
import { isObjectId, type Repository } from './repository.ts';

const maxLength = 1024;

/**
 * The branch that a revision names, as a full ref: a local one, else a remote-tracking one, else that of the remote
 * `origin`. `undefined` where it names a tag, an id, an expression or HEAD.
 */
export async function namedBranch(repo: Repository, revision: string): Promise<string | undefined> {
  if (isObjectId(revision) || revision === 'HEAD' || revision === '@') return undefined;
  if (revision.startsWith('-') || revision.length > maxLength || /\p{Cc}/u.test(revision)) return undefined;
  const local = revision.startsWith('refs/heads/') ? revision : `refs/heads/${revision}`;
  if (await stands(repo, local)) return local;
  // `heads/main`, `origin/main`, `main@{upstream}`: git's own rule for short names.
  const { code, stdout } = await askGit(repo, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--symbolic-full-name',
    '--end-of-options',
    revision,
  ]);
  const named = code === 0 ? stdout.toString('utf8').trim() : '';
  if (/^refs\/(?:heads|remotes)\//.test(named) && isRefName(named)) return named;
  const tracked = `refs/remotes/origin/${revision.replace(/^refs\/heads\//, '')}`;
  return named === '' && (await stands(repo, tracked)) ? tracked : undefined;
}

async function stands(repo: Repository, ref: string): Promise<boolean> {
  return isRefName(ref) && (await readRef(repo, ref)) !== undefined;
}
