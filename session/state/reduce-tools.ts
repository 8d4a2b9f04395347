import type { Fact } from './fact.ts';
import { withOne } from './reduce-work.ts';
import { kept, type SessionState, type ToolCall } from './state.ts';
import { appended, entry, type Shown } from './transcript.ts';

/** A use of a tool, or the same one further on; it stands in the transcript from when it begins. */
export function withTool(
  state: Pick<SessionState, 'toolCalls'> & Shown,
  { id, toolName, status, summary, details, output }: Extract<Fact, { type: 'tool' }>,
  atMs: number,
): Pick<SessionState, 'toolCalls'> & Shown {
  const { toolCalls, transcript, earlier } = state;
  const call: ToolCall = {
    id,
    toolName,
    status,
    ...(summary === undefined ? {} : { summary }),
    ...(details === undefined ? {} : { details }),
    updatedAtMs: atMs,
  };
  const known = toolCalls.findLastIndex((one) => one.id === id);
  if (known >= 0) {
    const shown = transcript.findLastIndex((one) => one.id === id);
    const before = transcript[shown];
    const calls = toolCalls.with(known, { ...toolCalls[known], ...call });
    return {
      toolCalls: output === undefined ? calls : withOutput(calls, id, output),
      transcript:
        before === undefined
          ? transcript
          : transcript.with(shown, {
              ...before,
              ...(summary === undefined ? {} : { content: summary }),
              status,
              updatedAtMs: atMs,
            }),
      earlier,
    };
  }
  const told = { ...entry(id, 'tool_call', summary ?? '', atMs), title: toolName, status };
  return { toolCalls: [...toolCalls, call].slice(-kept.toolCalls), ...appended(state, told) };
}

/** With what one of them printed; of the calls before the last ones that is let go of. */
export function withOutput(calls: readonly ToolCall[], id: string, output: string): readonly ToolCall[] {
  const others = calls.filter((one) => one.id !== id && one.output !== undefined);
  const over = new Set(others.slice(0, Math.max(0, others.length + 1 - kept.output)));
  return calls.map((one) => {
    if (one.id === id) return { ...one, output };
    if (!over.has(one)) return one;
    const { output: _, ...bare } = one;
    return bare;
  });
}

/** Calls with one more that a model has begun to write, or without it. */
export function withAnnounced(
  toolCalls: readonly ToolCall[],
  { id, toolName }: Extract<Fact, { type: 'announced' }>,
  updatedAtMs: number,
): readonly ToolCall[] {
  if (toolName === undefined) return toolCalls.filter((one) => one.id !== id || one.status !== 'preview');
  return withOne(toolCalls, { id, toolName, status: 'preview', updatedAtMs }, kept.toolCalls);
}

/** Nobody goes on writing behind the end of a turn. */
export function withoutAnnounced(toolCalls: readonly ToolCall[]): readonly ToolCall[] {
  return toolCalls.some(({ status }) => status === 'preview')
    ? toolCalls.filter(({ status }) => status !== 'preview')
    : toolCalls;
}
