/** Rules for changes that are held for review. */
import { WritError } from '../../core/base/errors.ts';
import type { Interaction, InteractionAnswer } from './interaction.ts';
import { type HeldChoice, heldQuestionId, heldSubject, undoQuestionId, undoSubject } from './questions.ts';
import type { SessionState } from './state.ts';

/** UNSUPPORTED_OPERATION if no change is held. */
export function requireSomethingHeld({ heldRun }: Pick<SessionState, 'heldRun'>): void {
  if (heldRun !== undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'no change is held for a review',
    hints: ['`/review on`: what the next plan makes is held'],
  });
}

/** UNSUPPORTED_OPERATION if a change is held: later work would not build on it. */
export function requireNothingHeld({ held, settings }: Pick<SessionState, 'held' | 'settings'>): void {
  if (held === undefined || settings.context !== 'dev') return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'a change is held, and not yet reviewed',
    detail: { run_id: held.runId, branch: held.branch },
    hints: ['`/review` asks what becomes of it', '`/ask TEXT` changes nothing, and is answered meanwhile'],
  });
}

/** UNSUPPORTED_OPERATION: runs of a goal build on one another without a person, so that none of them can be held. */
export function requireUnreviewed(state: Pick<SessionState, 'held' | 'settings'>): void {
  requireNothingHeld(state);
  if (state.settings.review === undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'changes are held until you have reviewed them, and a goal goes on by itself',
    hints: ['`/review off` first'],
  });
}

/** UNSUPPORTED_OPERATION in a session that only reads, and for another change than the one that is held. */
export function requireMayUndo(state: Pick<SessionState, 'held' | 'settings'>, wanted: string): void {
  const { held, settings } = state;
  if (settings.context !== 'dev')
    throw new WritError('UNSUPPORTED_OPERATION', {
      message: `a session for ${settings.context} only reads: nothing is taken back in it`,
      hints: ['`/context dev` first'],
    });
  const [named = ''] = wanted.split('/');
  if (held?.runId.startsWith(named) !== true) requireNothingHeld(state);
}

/** Ids of the hunks of a patchset that a person rejects. */
export function rejectedHunks(
  { reviews }: Pick<SessionState, 'reviews'>,
  patchset: string,
): readonly string[] {
  return reviews.flatMap((one) => (one.patchset === patchset && one.verdict === 'reject' ? [one.hunk] : []));
}

/**
 * Validates an answer about a held change against the verdicts on its hunks. INVALID_INTERACTION_RESPONSE;
 * UNSUPPORTED_OPERATION if the context only reads.
 */
export function validateHeldAnswer(
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
