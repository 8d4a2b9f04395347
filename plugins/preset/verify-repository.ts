import type { VerificationData } from '../../api/schemas/verification-schema.ts';
import type { VerifyRequest } from '../../api/verify/verify-request.ts';
import { verifyInRepository } from '../../api/verify/verify-target.ts';
import { builtInStores } from '../store/built-in-stores.ts';

/**
 * Verifies a commit or a run of the repository around `path`, offline. Faults of its record are in the result. It
 * throws if the target is invalid: a path without a repository, an unknown or ambiguous name (NOT_A_REPOSITORY,
 * REF_NOT_FOUND, TARGET_AMBIGUOUS), USAGE, ANCHOR_UNUSABLE; and GIT_MISSING.
 */
export function verifyRepository(
  path: string,
  target: string,
  request: VerifyRequest,
): Promise<VerificationData> {
  return verifyInRepository(builtInStores, path, target, request);
}
