import { WritError } from '../../../core/base/errors.ts';
import type { PatchSet } from '../../../core/contract/patch-set.ts';
import { touchesGoverning } from '../../patch/governing-paths.ts';
import { readBlob } from '../../vcs/blobs.ts';
import type { PolicyCommit } from '../../vcs/find-policy.ts';
import type { Scratch } from '../../vcs/scratch.ts';

/**
 * A patch to what governs writ takes approvals under the signers of the policy commit (resolutions, Config). Where it
 * names none they can never come, and nobody is kept waiting for them: PATCH_TOUCHES_STATE.
 */
export async function requireOldSigners(
  scratch: Scratch,
  policy: PolicyCommit,
  { files }: Pick<PatchSet, 'files'>,
): Promise<void> {
  if (!touchesGoverning(files)) return;
  const signers = await readBlob(scratch, policy.tree, '.writ/allowed_signers');
  if (signers?.toString('utf8').trim()) return;
  throw new WritError('PATCH_TOUCHES_STATE', {
    message:
      'the patch changes files that govern writ, and no `.writ/allowed_signers` at the policy commit says who may approve that',
    detail: {
      paths: files
        .map(({ path }) => path)
        .filter((path) => path.startsWith('.writ/'))
        .slice(0, 20),
    },
    hints: [
      'commit `.writ/allowed_signers` outside writ first: two of the people in it approve later changes',
    ],
  });
}
