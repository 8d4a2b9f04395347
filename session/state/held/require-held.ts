import { WritError } from '../../../core/base/errors.ts';
import type { SessionState } from '../state.ts';

/** UNSUPPORTED_OPERATION where nothing is or may be held that could be asked about. */
export function requireSomethingHeld({ heldRun }: Pick<SessionState, 'heldRun'>): void {
  if (heldRun !== undefined) return;
  throw new WritError('UNSUPPORTED_OPERATION', {
    message: 'no change is held for a review',
    hints: ['`/review on`: what the next plan makes is held'],
  });
}

/** UNSUPPORTED_OPERATION: what is asked next would not stand on the change that is held. */
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
