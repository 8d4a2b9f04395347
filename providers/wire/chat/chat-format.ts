import { quoted } from '../../../core/base/quoted.ts';
import type { ModelMessage, ModelRequest, ToolDeclaration } from '../../../core/contract/model.ts';
import type { ProviderSetting } from '../../../core/contract/provider.ts';
import { temperatureIsFixed } from '../../model-table.ts';
import type { Json } from '../json-parts.ts';
import { replayed } from '../replayed.ts';
import type { SaidFailure, WireFormat } from '../wire-format.ts';
import { chatReader } from './chat-reader.ts';

/** What one vendor says in the chat dialect in its own way. */
export interface ChatDialect {
  readonly provider: string;
  readonly streams: boolean;
  /** Whether a stream counts its tokens only where `stream_options` asks for it. */
  readonly asksForUsage: boolean;
  readonly lengthField: 'max_tokens' | 'max_completion_tokens';
  /** Whether `prompt_cache_key` is known. */
  readonly namesCache: boolean;
  reasoningBack(model: string): ReasoningBack;
  /** Why a temperature would be of no effect, in words; nothing where it has one. */
  noTemperature?(model: string): string | undefined;
  /** The vendor's own fields. PROVIDER_OPTION where flags and model do not go together. */
  own?(request: ModelRequest, streams: boolean): Json;
  readonly notices?: readonly string[];
  failureOf(status: number | undefined, body: unknown): SaidFailure;
}

/**
 * The chat dialect as one vendor speaks it. A gateway that loses the calls of a streamed reply loses them again: from
 * then on it is asked for whole replies.
 */
export function chatFormat(dialect: ChatDialect, { key }: Pick<ProviderSetting, 'key'>): WireFormat {
  const { provider, failureOf } = dialect;
  let streams = dialect.streams;
  return {
    provider,
    toWire: (request) => {
      const { model, maxOutputTokens, temperature, cacheKey } = request;
      const noTemperature =
        temperature === undefined
          ? undefined
          : (dialect.noTemperature?.(model) ??
            (temperatureIsFixed(model) ? `the temperature of ${quoted(model)} is fixed` : undefined));
      return {
        path: '/chat/completions',
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        framing: streams ? 'events' : 'whole',
        notices: [
          ...(dialect.notices ?? []),
          ...(noTemperature === undefined ? [] : [`\`--temperature\` is left out: ${noTemperature}`]),
        ],
        body: {
          model,
          messages: toChatMessages(request, { provider, reasoningBack: dialect.reasoningBack(model) }),
          ...toChatTools(request.tools),
          ...(maxOutputTokens === undefined ? {} : { [dialect.lengthField]: maxOutputTokens }),
          ...(temperature === undefined || noTemperature !== undefined ? {} : { temperature }),
          ...(cacheKey === undefined || !dialect.namesCache ? {} : { prompt_cache_key: cacheKey }),
          ...dialect.own?.(request, streams),
          stream: streams,
          ...(streams && dialect.asksForUsage ? { stream_options: { include_usage: true } } : {}),
        },
      };
    },
    reader: ({ model }) =>
      chatReader({
        keepsReasoning: dialect.reasoningBack(model) !== 'never',
        lostCalls: () => {
          streams = false;
        },
      }),
    failureOf,
  };
}

/** Whether the reasoning of an assistant message goes back, and, where there is none, an empty one. */
type ReasoningBack = 'never' | 'where-there-is' | 'always';

interface ChatHabits {
  readonly provider: string;
  readonly reasoningBack: ReasoningBack;
}

/** The conversation as messages of the chat dialect. */
function toChatMessages(request: ModelRequest, habits: ChatHabits): readonly Json[] {
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
function toChatTools(tools: readonly ToolDeclaration[]): Json {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  };
}
