import type { ModelMessage, ModelRequest, ToolDeclaration } from '../../../core/contract/model.ts';
import type { Json } from '../json-parts.ts';
import { replayed } from '../replayed.ts';

/** Whether the reasoning of an assistant message goes back, and, where there is none, an empty one. */
export type ReasoningBack = 'never' | 'where-there-is' | 'always';

export interface ChatHabits {
  readonly provider: string;
  readonly reasoningBack: ReasoningBack;
}

/** The conversation as messages of the chat dialect. */
export function toChatMessages(request: ModelRequest, habits: ChatHabits): readonly Json[] {
  const system = request.system.join('\n\n');
  return [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...request.messages.flatMap((message) => toChatMessage(request, habits, message)),
  ];
}

function toChatMessage(request: ModelRequest, habits: ChatHabits, message: ModelMessage): readonly Json[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'tool')
    return message.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }));
  const { text, calls, state } = message;
  // Some vendors refuse a message that says nothing.
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...reasoningOf(habits, replayed(state, habits.provider, request.model)),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ id, name, arguments: given }) => ({
              id,
              type: 'function',
              function: { name, arguments: given },
            })),
          }),
    },
  ];
}

function reasoningOf({ reasoningBack }: ChatHabits, state: unknown): Json {
  if (reasoningBack === 'never') return {};
  if (typeof state === 'string') return { reasoning_content: state };
  return reasoningBack === 'always' ? { reasoning_content: '' } : {};
}

/** Tools as the chat dialect declares them; nothing where there are none. */
export function toChatTools(tools: readonly ToolDeclaration[]): Json {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  };
}
