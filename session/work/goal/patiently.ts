import { isWritError } from '../../../core/base/errors.ts';
import type { FailureKind } from '../../../core/interfaces/model.ts';
import { pursuedGoal } from '../../state/pursued-goal.ts';
import type { TurnScope } from '../turn-scope.ts';

/** Milliseconds before a provider that failed is asked again for a goal; then it has failed. */
const waitsMs = [30_000, 60_000, 120_000] as const;

/** Failures that pass by themselves; every other one is the same next time. */
const passing: ReadonlySet<FailureKind> = new Set([
  'rate-limited',
  'overloaded',
  'server',
  'unreachable',
  'broken-reply',
]);

/**
 * Does something again where a provider failed in a way that passes, with longer and longer waits between, for a goal
 * alone: who waits for an ordinary turn is told at once. `tried` is how often it was tried before. Whoever stops the
 * turn ends the wait.
 */
export async function patiently<T>(
  { state, tell, newId, signal, setting: { clock } }: TurnScope,
  act: (tried: number) => Promise<T>,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await act(tried);
    } catch (fault) {
      signal.throwIfAborted();
      const waitMs = waitsMs[tried];
      if (waitMs === undefined || !isPassing(fault) || pursuedGoal(state()) === undefined) throw fault;
      const text = `the provider failed; it is asked again in ${waitMs / 1000} s (${tried + 1} of ${waitsMs.length})`;
      await tell({ type: 'noted', id: newId(), title: 'Goal', text });
      await clock.sleep(waitMs, signal);
    }
  }
}

function isPassing(fault: unknown): boolean {
  if (!isWritError(fault, 'PROVIDER_FAILED')) return false;
  const { kind } = fault.detail as { readonly kind?: FailureKind };
  return kind !== undefined && passing.has(kind);
}
