import type { TurnScope } from './turn-scope.ts';

/** Tools that were stopped before their end: they may have changed something, and nobody knows how much. */
export async function tellUnknown({ state, tell }: Pick<TurnScope, 'state' | 'tell'>): Promise<void> {
  for (const { id, toolName, status } of state().toolCalls)
    if (status === 'running')
      await tell({ type: 'tool', id, toolName, status: 'unknown', summary: 'stopped before its end' });
}
