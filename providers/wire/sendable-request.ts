import type { ModelMessage, ModelRequest, ToolCall } from '../../core/contract/model.ts';
import { isToolName } from './tool-name.ts';

/**
 * The request without calls that a vendor would refuse the whole conversation for: those without a name, or with one
 * that is no name of a tool. What came of such a call is said by the user instead.
 */
export function sendableRequest(request: ModelRequest): ModelRequest {
  const declared = new Set(request.tools.map(({ name }) => name));
  const isSendable = ({ name }: Pick<ToolCall, 'name'>): boolean => declared.has(name) || isToolName(name);
  const isUnsendable = (message: ModelMessage): boolean =>
    message.role === 'assistant' && !message.calls.every(isSendable);
  if (!request.messages.some(isUnsendable)) return request;
  let left = new Map<string, ToolCall>();
  const messages = request.messages.flatMap((message): readonly ModelMessage[] => {
    if (message.role === 'assistant') {
      left = new Map(message.calls.filter((call) => !isSendable(call)).map((call) => [call.id, call]));
      if (left.size === 0) return [message];
      const { text, state } = message;
      const calls = message.calls.filter(isSendable);
      if (text === '' && calls.length === 0) return [];
      // A text is reasoning; parts hold the call.
      const kept = typeof state?.value === 'string' ? { state } : {};
      return [{ role: 'assistant', text, calls, ...kept }];
    }
    if (message.role === 'user' || left.size === 0) return [message];
    const results = message.results.filter(({ callId }) => !left.has(callId));
    const said = message.results
      .filter(({ callId }) => left.has(callId))
      .map(({ text }) => `You called a tool without a valid name, so nothing was called: ${text}`);
    left = new Map();
    return [
      ...(results.length === 0 ? [] : [{ role: 'tool', results } as const]),
      ...(said.length === 0 ? [] : [{ role: 'user', text: said.join('\n') } as const]),
    ];
  });
  return { ...request, messages };
}
