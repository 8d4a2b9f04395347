import type { Report } from './command.ts';
import { type Decided, type Moment, nothingDecided } from './decided.ts';
import type { Fact } from './fact.ts';
import type { Interaction } from './interaction.ts';
import { pendingOf, type SessionState, type ToolCall } from './state.ts';
import { brokenOff, repliedFact } from './transcript.ts';

/** What an effect reports; nothing counts of a turn that is over. */
export function takeReport(state: SessionState, command: Report, { nowMs, newId }: Moment): Decided {
  const { turn, ...told } = command;
  // What was paid was paid, whether its turn is over or not.
  if (told.type === 'used') return { facts: [{ ...told, turn }], wants: [] };
  // What an ended turn still says is about nothing that is.
  if (turn !== state.turn) return nothingDecided;
  switch (told.type) {
    case 'ask': {
      const { type: _, ...question } = told;
      // Whoever has asked to stop is asked nothing more.
      if (state.isCancelling) return { facts: [], wants: [{ type: 'abort', turn }] };
      const interaction: Interaction = { ...question, id: newId(), status: 'pending', requestedAtMs: nowMs };
      return { facts: [{ type: 'asked', interaction }], wants: [] };
    }
    case 'tools-stopped':
      return {
        facts: state.toolCalls.filter(({ status }) => status === 'running').map(unknownTool),
        wants: [],
      };
    case 'end': {
      const left = pendingOf(state).map(({ id }): Fact => ({ type: 'withdrawn', id, why: 'turn-ended' }));
      const { end, reason } = told;
      return {
        facts: [
          ...left,
          ...brokenOff(state),
          { type: 'turn-ended', turn, end, ...(reason === undefined ? {} : { reason }) },
        ],
        wants: [],
      };
    }
    case 'replied':
      return { facts: [repliedFact(state, told)], wants: [] };
    default:
      return { facts: [told], wants: [] };
  }
}

/** It may have changed something, and nobody knows how much. */
function unknownTool({ id, toolName, summary, output }: ToolCall): Fact {
  const how = 'stopped before its end';
  return {
    type: 'tool',
    id,
    toolName,
    status: 'unknown',
    summary: summary === undefined ? how : `${summary}: ${how}`,
    ...(output === undefined ? {} : { output }),
  };
}
