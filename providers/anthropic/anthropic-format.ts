import type { ModelRequest } from '../../core/contract/model.ts';
import type { ProviderSetting } from '../../core/contract/provider.ts';
import type { Json } from '../wire/json-parts.ts';
import { versioned } from '../wire/versioned.ts';
import type { WireFormat, WireRequest } from '../wire/wire-format.ts';
import { anthropicFailure } from './anthropic-failure.ts';
import { toMessages } from './anthropic-messages.ts';
import { anthropicReader } from './anthropic-reader.ts';
import { anthropicFamily } from './model-families.ts';

/**
 * The version that this is written for. 2026-10-21 takes nothing away that is used here but `temperature`, which some
 * models still take, and is unknown to other servers that speak this wire.
 */
const version = '2023-06-01';

/** The Messages API, as a stream (platform.claude.com/docs/en/api/messages). */
export function anthropicFormat({ key, base }: Pick<ProviderSetting, 'key' | 'base'>): WireFormat {
  return {
    provider: 'anthropic',
    toWire: (request) => toWire(request, key, base),
    reader: () => anthropicReader(),
    failureOf: anthropicFailure,
  };
}

function toWire(request: ModelRequest, key: string | undefined, base: string): WireRequest {
  const { model, maxOutputTokens, temperature } = request;
  const { adaptive, maxTokens } = anthropicFamily(model);
  const refused = temperature !== undefined && adaptive;
  return {
    path: versioned(base, '/v1', '/messages'),
    headers: { 'anthropic-version': version, ...(key === undefined ? {} : { 'x-api-key': key }) },
    framing: 'events',
    body: {
      model,
      max_tokens: maxOutputTokens ?? maxTokens,
      ...toPrompt(request),
      // Without `display`, newer models keep to themselves what they thought.
      ...(adaptive ? { thinking: { type: 'adaptive', display: 'summarized' } } : {}),
      ...(temperature === undefined || refused ? {} : { temperature }),
      stream: true,
    },
    ...(refused ? { notices: [`${model} takes no temperature: the question goes without`] } : {}),
  };
}

const marked: Json = { cache_control: { type: 'ephemeral' } };

/**
 * Tools, instructions and conversation. Where the prompt is to be kept, each ends with a mark: the vendor keeps what
 * is before a mark, and takes four.
 */
function toPrompt(request: ModelRequest): Json {
  const mark = (blocks: readonly Json[]): readonly Json[] =>
    request.cacheKey === undefined || blocks.length === 0
      ? blocks
      : [...blocks.slice(0, -1), { ...blocks.at(-1), ...marked }];
  const system = request.system.filter((text) => text !== '').map((text) => ({ type: 'text', text }));
  const tools = request.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  const messages = toMessages(request);
  const last = messages.at(-1);
  return {
    ...(system.length === 0 ? {} : { system: mark(system) }),
    ...(tools.length === 0 ? {} : { tools: mark(tools) }),
    messages:
      last?.role === 'user'
        ? [...messages.slice(0, -1), { role: 'user', content: mark(last.content) }]
        : messages,
  };
}
