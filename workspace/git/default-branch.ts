import { askGit } from './git.ts';
import { isRefName } from './ref-name.ts';
import { readRef } from './refs.ts';
import type { Repository } from './repository.ts';
import { readHead } from './resolve-commit.ts';

const remote = 'refs/remotes/origin/';
const conventional = ['main', 'master'];

/**
 * The default branch, as far as this clone knows one, as a full ref: what `origin` calls HEAD; else the branch that
 * `init.defaultBranch` names; else `main` or `master` where only one of them exists; else what is checked out.
 */
export async function defaultBranch(repo: Repository): Promise<string | undefined> {
  const { code, stdout } = await askGit(repo, ['symbolic-ref', '--quiet', `${remote}HEAD`]);
  const told = code === 0 ? stdout.toString('utf8').trim() : '';
  if (told.startsWith(remote) && (await stands(repo, told))) return told;
  const configured = await askGit(repo, ['config', '--get', 'init.defaultBranch']);
  const named = await branchOf(repo, configured.stdout.toString('utf8').trim());
  if (configured.code === 0 && named !== undefined) return named;
  const found = (await Promise.all(conventional.map((name) => branchOf(repo, name)))).filter(
    (ref) => ref !== undefined,
  );
  if (found.length === 1) return found[0];
  const { branch, commit } = await readHead(repo);
  return commit === undefined ? undefined : branch;
}

/** A branch without where it is kept: `main` of `refs/heads/main` and of `refs/remotes/origin/main`. */
export function shortBranch(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes\/origin)\//, '');
}

async function branchOf(repo: Repository, name: string): Promise<string | undefined> {
  for (const ref of [`refs/heads/${name}`, `${remote}${name}`]) if (await stands(repo, ref)) return ref;
  return undefined;
}

async function stands(repo: Repository, ref: string): Promise<boolean> {
  return isRefName(ref) && (await readRef(repo, ref)) !== undefined;
}
