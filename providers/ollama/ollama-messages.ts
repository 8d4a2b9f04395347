import type { ModelMessage, ModelRequest } from '../../core/contract/model.ts';
import { argumentsAsObject } from '../wire/call-arguments.ts';
import type { Json } from '../wire/json-parts.ts';
import { replayed } from '../wire/replayed.ts';

/** The conversation as `/api/chat` takes it. */
export function toOllamaMessages(request: ModelRequest): readonly Json[] {
  const system = request.system.join('\n\n');
  return [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...request.messages.flatMap((message) => toOllamaMessage(request, message)),
  ];
}

function toOllamaMessage(request: ModelRequest, message: ModelMessage): readonly Json[] {
  if (message.role === 'user') return [{ role: 'user', content: message.text }];
  if (message.role === 'tool')
    return message.results.map(({ callId, name, text }) => ({
      role: 'tool',
      tool_name: name,
      tool_call_id: callId,
      content: text,
    }));
  const { text, calls, state } = message;
  const thinking = replayed(state, 'ollama', request.model);
  return [
    {
      role: 'assistant',
      content: text,
      ...(typeof thinking === 'string' ? { thinking } : {}),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(({ id, name, arguments: given }) => ({
              id,
              function: { name, arguments: argumentsAsObject(given) },
            })),
          }),
    },
  ];
}
