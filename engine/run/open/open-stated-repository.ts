import { realpath } from 'node:fs/promises';
import { WritError } from '../../../core/base/errors.ts';
import type { AdmittedContract } from '../../intent/admit-contract.ts';
import { openRepository, type Repository, type RepositoryUse } from '../../vcs/repository.ts';
import type { RunRequest } from '../state/run-request.ts';

/**
 * Opens the repository that the contract is about: for `local` it must be the one at the locator, or a linked work tree
 * of it.
 */
export async function openStatedRepository(
  request: Pick<RunRequest, 'repositoryPath'>,
  contract: AdmittedContract,
  use: RepositoryUse = {},
): Promise<Repository> {
  const repository = await openRepository(request.repositoryPath, use);
  const { repo } = contract.effective.metadata.target;
  if (repo.type !== 'local') return repository;
  const stated = await realpath(repo.locator).catch(() => repo.locator);
  if (stated === repository.root || (await isWorkTreeOf(repository, stated))) return repository;
  throw new WritError('REPOSITORY_MISMATCH', {
    message: `the spec is for \`${repo.locator}\`, this repository is \`${repository.root}\``,
    detail: { expected: repo.locator, found: repository.root },
    hints: ['run inside the stated repository, or name it with `--repo`'],
  });
}

/** True where `root` is the root of another work tree of the repository. */
async function isWorkTreeOf(repository: Repository, root: string): Promise<boolean> {
  const other = await openRepository(root, { onlyReads: true }).catch(() => undefined);
  if (other?.root !== root) return false;
  return (await realpath(other.commonDir)) === (await realpath(repository.commonDir));
}
