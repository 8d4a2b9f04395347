import { WritError } from '../../core/base/errors.ts';
import { updateRefs } from '../../workspace/git/refs.ts';
import type { Repository } from '../../workspace/git/repository.ts';

/** Compare-and-swap of one ref; EVIDENCE_WRITE_FAILED where somebody else moved it. `undefined` is "does not exist". */
export async function moveRef(
  repo: Repository,
  ref: string,
  old: string | undefined,
  to: string | undefined,
): Promise<void> {
  if (old === to) return;
  const outcome = await updateRefs(repo, [{ ref, old, new: to }], 'writ: context blobs');
  if (outcome.moved) return;
  throw new WritError('EVIDENCE_WRITE_FAILED', {
    message: `\`${ref}\` was written by another process`,
    detail: { ref, expected: old ?? null, found: outcome.stale[0]?.found ?? null },
  });
}
