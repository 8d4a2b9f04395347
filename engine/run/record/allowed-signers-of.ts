import { readBlob } from '../../vcs/blobs.ts';
import type { Attempt } from '../state/attempt.ts';

/** Who may sign: `.writ/allowed_signers` at the policy commit; `undefined` where it has none. */
export async function allowedSignersOf({
  means: { scratch },
  ground,
}: Pick<Attempt, 'ground' | 'means'>): Promise<Uint8Array | undefined> {
  return readBlob(scratch, ground.policy.tree, '.writ/allowed_signers');
}
