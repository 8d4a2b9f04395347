import { conflict } from './decided.ts';
import { isBusy, type SessionState } from './state.ts';

/** CONTROLLER_CONFLICT: one turn after the other. */
export function requireIdle(state: SessionState): void {
  if (isBusy(state)) throw conflict('the session is busy', { reason: 'session_busy', status: state.status });
}
