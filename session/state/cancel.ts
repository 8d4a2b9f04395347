import { type Decided, nothingDecided } from './decided.ts';
import type { Fact } from './fact.ts';
import { pendingOf, type SessionState } from './state.ts';

/** Stops the turn that runs; what it asks is asked no more. Nothing where none runs. */
export function cancel(state: SessionState): Decided {
  const { turn } = state;
  if (turn === undefined) return nothingDecided;
  const withdrawn = pendingOf(state).map(({ id }): Fact => ({ type: 'withdrawn', id, why: 'cancelled' }));
  return { facts: [{ type: 'cancel-asked' }, ...withdrawn], wants: [{ type: 'abort', turn }] };
}
