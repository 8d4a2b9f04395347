import type { ModelRequest } from '../../core/contract/model.ts';
import type { ProviderSetting } from '../../core/contract/provider.ts';
import { toChatMessages, toChatTools } from '../wire/chat/chat-messages.ts';
import { chatReader } from '../wire/chat/chat-reader.ts';
import type { WireFormat } from '../wire/wire-format.ts';
import { openaiFailure } from './openai-failure.ts';

/** The chat dialect, for servers that speak it at another base. */
export function chatFormat({ key }: Pick<ProviderSetting, 'key'>): WireFormat {
  return {
    provider: 'openai',
    toWire: (request: ModelRequest) => ({
      path: '/chat/completions',
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      framing: 'events',
      body: {
        model: request.model,
        messages: toChatMessages(request, { provider: 'openai', reasoningBack: 'where-there-is' }),
        ...toChatTools(request.tools),
        ...(request.maxOutputTokens === undefined ? {} : { max_tokens: request.maxOutputTokens }),
        ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
        stream: true,
        stream_options: { include_usage: true },
      },
    }),
    reader: () =>
      chatReader({ keepsReasoning: true, failureOf: (error) => openaiFailure(undefined, { error }) }),
    failureOf: openaiFailure,
  };
}
