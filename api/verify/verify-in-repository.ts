import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { Stores } from '../../engine/store/open-stores.ts';
import type { VerificationData } from '../schemas/verification-schema.ts';
import { lazyRepository } from './lazy-repository.ts';
import { meaningOf } from './target-meanings.ts';
import { toVerificationData } from './verification-data.ts';
import { withAskedCommit } from './verified-target.ts';
import { readRequest, type VerifyRequest } from './verify-request.ts';
import { verifyTarget } from './verify-target.ts';

/**
 * Verifies a commit or a run of the repository around `path`, whose runs may be kept in `stores`, offline. Whatever is
 * wrong with its record is in the answer; thrown is what cannot be meant: a path without a repository, a name of
 * nothing or of several things (NOT_A_REPOSITORY, REF_NOT_FOUND, TARGET_AMBIGUOUS), USAGE, ANCHOR_UNUSABLE; and
 * GIT_MISSING.
 */
export async function verifyInRepository(
  stores: Stores,
  path: string,
  target: string,
  request: VerifyRequest,
): Promise<VerificationData> {
  const { belief, demands } = await readRequest(request);
  await using repository = lazyRepository({ stores, cwd: path });
  const { open, findRun } = repository;
  const meaning = await meaningOf(path, target, undefined, open, findRun);
  if (meaning.kind === 'file')
    throw new WritError('USAGE', {
      message: `\`${printable(target)}\` is a file: expected the name of a commit or a run`,
      detail: { command: 'verify', found: printable(target) },
    });
  const found = await verifyTarget(belief, await open(), demands, target, meaning, findRun);
  return toVerificationData([withAskedCommit(found, demands.commits)]);
}
