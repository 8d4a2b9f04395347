import { quoted } from '../../../core/base/quoted.ts';
import type { ModelRequest } from '../../../core/contract/model.ts';
import type { ProviderSetting } from '../../../core/contract/provider.ts';
import { temperatureIsFixed } from '../../model-table.ts';
import type { Json } from '../json-parts.ts';
import type { SaidFailure, WireFormat } from '../wire-format.ts';
import { type ReasoningBack, toChatMessages, toChatTools } from './chat-messages.ts';
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
