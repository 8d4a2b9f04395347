import { WritError } from '../../../core/base/errors.ts';
import type { Interaction, InteractionAnswer } from '../interaction.ts';
import type { SessionState } from '../state.ts';
import { undoQuestionId, undoSubject } from '../undo-question.ts';
import { type HeldChoice, heldQuestionId, heldSubject } from './held-question.ts';

/** Ids of the hunks of a patchset that a person rejects. */
export function rejectedHunks(
  { reviews }: Pick<SessionState, 'reviews'>,
  patchset: string,
): readonly string[] {
  return reviews.flatMap((one) => (one.patchset === patchset && one.verdict === 'reject' ? [one.hunk] : []));
}

/**
 * What an answer makes of a held change must be what was said of its hunks: nothing that is rejected is kept, and there
 * is something to take out. INVALID_INTERACTION_RESPONSE; UNSUPPORTED_OPERATION where the context only reads.
 */
export function judgeHeldAnswer(
  state: Pick<SessionState, 'reviews' | 'held' | 'settings'>,
  { subject }: Pick<Interaction, 'subject'>,
  { answers }: Pick<InteractionAnswer, 'answers'>,
): void {
  const { held, settings } = state;
  if (subject.startsWith(undoSubject) && answers?.[undoQuestionId]?.[0] === 'undo') requireWrites(settings);
  if (!subject.startsWith(heldSubject) || held === undefined) return;
  const [choice] = (answers?.[heldQuestionId] ?? []) as readonly HeldChoice[];
  if (choice === 'discard') return;
  requireWrites(settings);
  const rejected = rejectedHunks(state, held.patchset).length;
  const hunks = rejected === 1 ? 'hunk is' : 'hunks are';
  if (choice === 'keep' && rejected > 0)
    throw refused(`${rejected} ${hunks} rejected: take them out, or keep them before you keep the change`);
  if (choice === 'take-out' && rejected === 0)
    throw refused('no hunk is rejected: say which ones, each with its reason, before you take them out');
}

function requireWrites({ context }: SessionState['settings']): void {
  if (context === 'dev') return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: `a session for ${context} only reads: no branch is moved in it`,
    hints: ['cancel the question, then `/context dev`, and ask again'],
  });
}

function refused(message: string): WritError {
  return new WritError('INVALID_INTERACTION_RESPONSE', { message, detail: { question: heldQuestionId } });
}
