import { resolve } from 'node:path';
import { isWritError } from '../../core/base/errors.ts';
import type { Actor, TargetRepo } from '../../core/contract/intentspec.gen.ts';
import { locatorForm } from '../../engine/spec/rules/locator-form.ts';
import { askGit } from '../../engine/vcs/git.ts';
import { readIdentity } from '../../engine/vcs/identity.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';
import { readHead } from '../../engine/vcs/resolve-commit.ts';
import type { CommandContext } from './command.ts';

/** What a draft says about where it will be worked on, and who asks. */
export interface DraftTarget {
  readonly repo: TargetRepo;
  readonly baseRef: string;
  readonly createdBy: Actor;
  /** Directory of the project. */
  readonly root: string;
}

/**
 * Taken from the repository around the working directory: its remote, its branch, the git identity. Outside of one the
 * directory itself, with a note.
 */
export async function draftTarget(
  context: Pick<CommandContext, 'repoPath' | 'cwd' | 'env' | 'print'>,
): Promise<DraftTarget> {
  const place = context.repoPath ?? context.cwd;
  const user: Actor = { type: 'user', id: (context.env.USER || 'unknown').slice(0, 128) };
  let repository: Repository;
  try {
    repository = await openRepository(place);
  } catch (fault) {
    if (context.repoPath !== undefined || !isWritError(fault, 'NOT_A_REPOSITORY')) throw fault;
    context.print.note('not inside a git repository: the draft names this directory and the branch main');
    return {
      repo: { type: 'local', locator: resolve(place) },
      baseRef: 'main',
      createdBy: user,
      root: resolve(place),
    };
  }
  const { branch, commit } = await readHead(repository);
  const identity = await readIdentity(repository);
  return {
    root: repository.root,
    repo: (await remoteOf(repository)) ?? { type: 'local', locator: repository.root },
    baseRef: branch?.replace(/^refs\/heads\//, '') ?? commit ?? 'HEAD',
    createdBy:
      identity === undefined
        ? user
        : { type: 'user', id: identity.email.slice(0, 128), displayName: identity.name.slice(0, 256) },
  };
}

/** The remote `origin`, unless its URL is none that a contract may hold (a password, a plain path). */
async function remoteOf(repository: Repository): Promise<TargetRepo | undefined> {
  const { code, stdout } = await askGit(repository, ['config', '--get', 'remote.origin.url']);
  const locator = stdout.toString('utf8').trim();
  if (code !== 0 || locator === '' || locator.length > 512) return undefined;
  const repo: TargetRepo = { type: 'git', locator };
  return locatorForm({ metadata: { target: { repo } } }).length === 0 ? repo : undefined;
}
