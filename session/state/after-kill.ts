import type { Fact } from './fact.ts';
import { pendingOf, type SessionState } from './state.ts';

/**
 * What is known of a state whose process is gone: nobody waits for its tools, and how far they got nobody knows. A turn
 * that waits for an answer still waits; any other has failed. Pure.
 */
export function afterKill(state: SessionState): readonly Fact[] {
  const tools = state.toolCalls
    .filter(({ status }) => status === 'running' || status === 'preview')
    .map(({ id, toolName, status }): Fact => {
      const isBegun = status === 'running';
      const summary = isBegun ? 'writ was stopped before its end' : 'writ was stopped before it began';
      return { type: 'tool', id, toolName, status: isBegun ? 'unknown' : 'failed', summary };
    });
  const { turn } = state;
  if (turn === undefined || pendingOf(state).length > 0 || state.noteFor !== undefined) return tools;
  return [
    ...tools,
    { type: 'turn-ended', turn, end: 'failed', reason: 'writ was stopped in the middle of this turn' },
  ];
}
