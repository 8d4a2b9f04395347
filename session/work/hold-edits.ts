import { WritError } from '../../core/base/errors.ts';
import { readContract } from '../../engine/intent/admit-contract.ts';
import { draftEdits, editSentence, requireStricter } from '../../engine/run/draft/edited-draft.ts';
import { draftPath, type KeptDraft } from '../../engine/run/draft/kept-draft.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { TurnScope } from './turn-scope.ts';

/**
 * Holds a draft whose file was edited by hand to what was drafted, and tells what differs: whoever confirms it was
 * shown the other one (docs/lifecycle.md, Edited by hand). DRAFT_LOOSENED; OBJECT_CORRUPT where what was drafted is not
 * what the thread says.
 */
export async function holdEdits(
  { setting: { engine }, state, tell, newId }: TurnScope,
  repository: Pick<Repository, 'commonDir'>,
  kept: KeptDraft,
): Promise<void> {
  const { runId } = kept;
  const { effective } = await readContract(engine, kept.specBytes);
  if ((await readContract(engine, kept.drafted)).digest !== state().draft?.digest)
    throw new WritError('OBJECT_CORRUPT', {
      message: `the draft \`${runId}\` does not hold what was drafted`,
      detail: { run_id: runId },
    });
  const edits = draftEdits(kept, effective);
  requireStricter({ runId, path: draftPath(repository, runId) }, edits);
  if (edits.length === 0) return;
  const text = edits.map((edit) => `- ${editSentence(edit)}`).join('\n');
  await tell({ type: 'noted', id: newId(), title: 'Edited by hand since it was drafted', text });
}
