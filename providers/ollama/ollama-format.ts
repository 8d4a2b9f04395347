import type { ModelRequest, ToolDeclaration } from '../../core/contract/model.ts';
import type { ProviderSetting } from '../../core/contract/provider.ts';
import type { Json } from '../wire/json-parts.ts';
import type { WireFormat } from '../wire/wire-format.ts';
import { compactSchema } from './compact-schema.ts';
import { contextLength } from './context-length.ts';
import { isCloud } from './ollama-base.ts';
import { ollamaFailure } from './ollama-failure.ts';
import { toOllamaMessages } from './ollama-messages.ts';
import { ollamaReader } from './ollama-reader.ts';

/** `/api/chat` (docs.ollama.com/api/chat). */
export function ollamaFormat({
  key,
  base,
  flags,
}: Pick<ProviderSetting, 'key' | 'base' | 'flags'>): WireFormat {
  return {
    provider: 'ollama',
    isNamedHere: true,
    toWire: (request) => {
      const said = {
        model: request.model,
        messages: toOllamaMessages(request),
        ...toTools(request.tools, flags['ollama-compact-tools'] === 'on'),
      };
      return {
        path: '/api/chat',
        // The key opens the vendor's cloud; a server of one's own must not see it.
        headers: key === undefined || !isCloud(base) ? {} : { authorization: `Bearer ${key}` },
        framing: 'lines',
        body: {
          ...said,
          ...thinkOf(flags['ollama-thinking'] ?? 'off'),
          options: optionsOf(request, JSON.stringify(said)),
          // Without these, the start of a prompt that is too long is left out, and nobody is told.
          truncate: false,
          shift: false,
          stream: true,
        },
      };
    },
    reader: ollamaReader,
    failureOf: ollamaFailure,
  };
}

function optionsOf({ temperature, maxOutputTokens }: ModelRequest, said: string): Json {
  return {
    num_ctx: contextLength(said, maxOutputTokens),
    ...(maxOutputTokens === undefined ? {} : { num_predict: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

/** A level is sent as it is: a word that the server does not know it would take for its default, silently. */
function thinkOf(thinking: string): Json {
  if (thinking === 'auto') return {};
  if (thinking === 'off' || thinking === 'on') return { think: thinking === 'on' };
  return { think: thinking };
}

function toTools(tools: readonly ToolDeclaration[], compact: boolean): Json {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters: compact ? compactSchema(parameters) : parameters },
    })),
  };
}
