/* The provider for OpenAI: its Responses API and the chat dialect. */
import { createHash } from 'node:crypto';
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type {
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ModelUsage,
  ReplyEnd,
  ToolDeclaration,
} from '../../core/interfaces/model.ts';
import type { ProviderSetting, ProviderSource } from '../../core/interfaces/provider.ts';
import { temperatureIsFixed } from '../model-table.ts';
import { type ChatDialect, chatFormat } from '../wire/chat/chat-format.ts';
import { saidFailure } from '../wire/failures.ts';
import { argumentsAsText } from '../wire/read-frame.ts';
import { replayed, rowOf } from '../wire/traffic-file.ts';
import {
  brokenReply,
  callIds,
  countIn,
  dataUrl,
  endOf,
  type Json,
  listIn,
  objectIn,
  partsOf,
  type SaidFailure,
  SaidFailureError,
  textIn,
  type WireFormat,
  type WireReader,
} from '../wire/wire-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';

const failureWords = {
  byWord: {
    insufficient_quota: 'quota-used-up',
    usage_limit_reached: 'quota-used-up',
    billing_hard_limit_reached: 'no-credit',
    billing_not_active: 'no-credit',
    invalid_api_key: 'key-refused',
    model_not_found: 'unknown-model',
    context_length_exceeded: 'too-large',
    rate_limit_exceeded: 'rate-limited',
    server_is_overloaded: 'overloaded',
    slow_down: 'overloaded',
    server_error: 'server',
    // A question that the vendor's policy refuses.
    invalid_prompt: 'bad-request',
  },
} as const;

/** `{error: {message, type, param, code}}`; without a status it came in the middle of a reply. */
export function openaiFailure(status: number | undefined, body: unknown): SaidFailure {
  return saidFailure(failureWords, status, body);
}

/** Models without reasoning: they refuse a request for it. */
const withoutReasoning = /^(?:gpt-[34]|chatgpt-)|-chat\b/;

/**
 * OpenAI's own format (`/responses`). The vendor stores no state: the reasoning of a reply comes encrypted and goes
 * back unchanged, before the calls that it led to.
 */
export function responsesFormat({ key }: Pick<ProviderSetting, 'key'>): WireFormat {
  return {
    provider: 'openai',
    toWire: (request) => {
      const { model, system, maxOutputTokens, temperature, cacheKey } = request;
      const noTemperature = temperature !== undefined && temperatureIsFixed(model);
      return {
        path: '/responses',
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
        framing: 'events',
        notices: noTemperature
          ? [`\`--temperature\` is left out: the temperature of ${quoted(model)} is fixed`]
          : [],
        body: {
          model,
          ...(system.length === 0 ? {} : { instructions: system.join('\n\n') }),
          input: toInput(request),
          ...toTools(request),
          ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
          ...(temperature === undefined || noTemperature ? {} : { temperature }),
          ...(cacheKey === undefined ? {} : { prompt_cache_key: shortName(cacheKey) }),
          ...(withoutReasoning.test(model) ? {} : { include: ['reasoning.encrypted_content'] }),
          store: false,
          stream: true,
        },
      };
    },
    reader: responsesReader,
    failureOf: openaiFailure,
  };
}

function toTools({ tools }: ModelRequest): Json {
  if (tools.length === 0) return {};
  return {
    // Not strict: a strict tool has to name every property as required.
    tools: tools.map(({ name, description, parameters }: ToolDeclaration) => ({
      type: 'function',
      name,
      description,
      parameters,
      strict: false,
    })),
    parallel_tool_calls: true,
  };
}

/** What servers at another base understand: the least that OpenAI's own chat dialect was. */
export const chatDialect: ChatDialect = {
  provider: 'openai',
  streams: true,
  asksForUsage: true,
  lengthField: 'max_tokens',
  namesCache: false,
  reasoningBack: () => 'where-there-is',
  failureOf: openaiFailure,
};

/**
 * OpenAI, and whatever speaks its chat dialect at another base. `flags.dialect` (`[providers.openai] dialect`) is
 * `responses` or `chat`.
 */
export const openai: ProviderSource = {
  title: 'OpenAI',
  keys: ['OPENAI_API_KEY'],
  // Servers of one's own often want none.
  keyless: (base) => base !== openai.base,
  base: 'https://api.openai.com/v1',
  baseVariables: ['OPENAI_BASE_URL'],
  defaultModel: 'gpt-6.1-sol',
  flags: [],
  settings: { dialect: ['responses', 'chat'] },
  open: (setting) =>
    wireProvider(
      dialectOf(setting) === 'chat' ? chatFormat(chatDialect, setting) : responsesFormat(setting),
      setting,
    ),
};

/** OpenAI's own server refuses tools in the chat dialect; other servers know little else. */
function dialectOf({ isOtherBase, flags }: ProviderSetting): 'chat' | 'responses' {
  const { dialect } = flags;
  if (dialect === undefined) return isOtherBase ? 'chat' : 'responses';
  if (dialect === 'chat' || dialect === 'responses') return dialect;
  throw new WritError('PROVIDER_OPTION', {
    message: `\`[providers.openai] dialect\`: expected \`responses\` or \`chat\`, found ${quoted(dialect)}`,
    detail: { flag: 'dialect', provider: 'openai', expected: ['responses', 'chat'], found: dialect },
  });
}

/** Pieces of a part of an item: which event they are, and whether they are words of the reply or of its reasoning. */
const deltas: Readonly<Record<string, 'text' | 'reasoning'>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'text',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_text.delta': 'reasoning',
};

/** Parts of an item that has come whole, and the field in which their words are. */
const words: Readonly<Record<string, string>> = {
  output_text: 'text',
  refusal: 'refusal',
  summary_text: 'text',
  reasoning_text: 'text',
};

/** Why a reply is incomplete. */
const cuts: Readonly<Record<string, ReplyEnd>> = {
  max_output_tokens: 'length',
  max_tokens: 'length',
  content_filter: 'filtered',
};

/** Items of one reply: calls, each with reasoning before it, and messages between them. */
const maxItems = 1024;

/**
 * A reply of `/responses`: its items as they are done; pieces only so that somebody sees them come. A whole document is
 * read as the last event of a stream.
 */
export function responsesReader(): WireReader {
  let items: Json[] = [];
  /** Items of which pieces have come, and the part of the last one. */
  const pieces = new Map<string, unknown>();
  let refused = false;
  let last: { readonly isWhole: boolean; readonly why: string } | undefined;

  function* takePiece(event: Json, type: 'text' | 'reasoning'): Iterable<ModelEvent> {
    const delta = textIn(event.delta);
    if (delta === '') return;
    const place = placeOf(event.output_index, event.item_id);
    const part = event.summary_index ?? event.content_index;
    const isNext = type === 'reasoning' && pieces.has(place) && pieces.get(place) !== part;
    pieces.set(place, part);
    yield { type, text: isNext ? `\n\n${delta}` : delta };
  }

  function* takeItem(item: Json, place: string): Iterable<ModelEvent> {
    items.push(item);
    if (items.length > maxItems) throw brokenReply(`more than ${maxItems} items in one reply`);
    const isReasoning = item.type === 'reasoning';
    const parts = [...(isReasoning ? listIn(item.summary) : []), ...listIn(item.content)].map(partsOf);
    refused ||= parts.some(({ type }) => type === 'refusal');
    if (pieces.has(place)) return;
    const told = parts.map((part) => textIn(part[rowOf(words, textIn(part.type)) ?? '']));
    const text = told.filter((one) => one !== '').join(isReasoning ? '\n\n' : '');
    if (text !== '') yield { type: isReasoning ? 'reasoning' : 'text', text };
  }

  return {
    *take(frame, name) {
      if (last !== undefined) return;
      const event = partsOf(frame);
      const type =
        event.object === 'response' ? `response.${textIn(event.status)}` : textIn(event.type) || name;
      const response = event.object === 'response' ? event : partsOf(event.response);
      const piece = rowOf(deltas, type);
      if (piece !== undefined) yield* takePiece(event, piece);
      refused ||= type === 'response.refusal.delta';
      if (type === 'response.output_item.added') {
        const { type: kind, name: called } = partsOf(event.item);
        const begins = kind === 'function_call' ? textIn(called) : '';
        if (begins !== '') yield { type: 'calling', name: begins };
      }
      if (type === 'response.output_item.done') {
        const item = partsOf(event.item);
        yield* takeItem(item, placeOf(event.output_index, item.id));
      }
      if (type === 'error')
        throw new SaidFailureError(openaiFailure(undefined, { error: objectIn(event.error) ?? event }));
      if (type === 'response.failed' || type === 'response.cancelled')
        throw new SaidFailureError(openaiFailure(undefined, response));
      if (type !== 'response.completed' && type !== 'response.incomplete') return;
      if (items.length === 0)
        for (const [place, item] of listIn(response.output).entries())
          yield* takeItem(partsOf(item), String(place));
      const usage = responsesUsage(partsOf(response.usage));
      if (usage) yield { type: 'usage', usage };
      last = {
        isWhole: type === 'response.completed',
        why: textIn(partsOf(response.incomplete_details).reason),
      };
    },
    progress: () => (last === undefined ? 'begun' : 'whole'),
    *finish() {
      if (last === undefined) throw brokenReply('the stream ended in the middle of the reply');
      // A call that was cut is none.
      items = items.filter((item) => item.status !== 'incomplete' || item.type !== 'function_call');
      const toId = callIds();
      let calls = 0;
      let isNamed = true;
      for (const { type, call_id: given, name, arguments: text } of items) {
        if (type !== 'function_call') continue;
        const id = toId(textIn(given));
        calls += 1;
        isNamed &&= id === given;
        yield { type: 'call', call: { id, name: textIn(name), arguments: textIn(text) || '{}' } };
      }
      const end: ReplyEnd = last.isWhole
        ? refused
          ? 'refused'
          : calls > 0
            ? 'calls'
            : 'stop'
        : endOf(cuts, last.why || 'max_output_tokens');
      yield { type: 'end', end, ...(last.isWhole && isNamed && canGoBack(items) ? { state: items } : {}) };
    },
  };
}

/** What pieces and their item have in common; a vendor may put anything there. */
function placeOf(index: unknown, id: unknown): string {
  return String(countIn(index) ?? textIn(id));
}

/** The conversation as input items. A reply of this model goes back as the items that it came as. */
function toInput({ messages, model }: ModelRequest): readonly Json[] {
  return messages.flatMap((message) => toItems(message, model));
}

function toItems(message: ModelMessage, model: string): readonly Json[] {
  if (message.role === 'user') {
    const { text, images = [] } = message;
    if (images.length === 0) return [{ role: 'user', content: text }];
    const shown = images.map((image) => ({ type: 'input_image', image_url: dataUrl(image) }));
    return [{ role: 'user', content: [{ type: 'input_text', text }, ...shown] }];
  }
  if (message.role === 'tool')
    return message.results.map(({ callId, text }) => ({
      type: 'function_call_output',
      call_id: shortName(callId),
      output: text,
    }));
  const { text, calls, state } = message;
  const items = replayed(state, 'openai', model);
  // Kept under the chat dialect, it is text.
  if (Array.isArray(items) && items.every((item) => objectIn(item) !== undefined))
    return (items as readonly Json[]).map((item) =>
      item.type === 'function_call' ? { ...item, arguments: argumentsAsText(textIn(item.arguments)) } : item,
    );
  return [
    ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
    ...calls.map(({ id, name, arguments: given }) => ({
      type: 'function_call',
      call_id: shortName(id),
      name,
      arguments: argumentsAsText(given),
    })),
  ];
}

/**
 * Whether items can go back unchanged to a vendor that stored none of them. Reasoning must be encrypted and precede
 * another item; calls must have the ids that their results will use.
 */
function canGoBack(items: readonly Json[]): boolean {
  return (
    items.length > 0 &&
    items.at(-1)?.type !== 'reasoning' &&
    items.every(({ type, encrypted_content: encrypted, call_id: id }) => {
      if (type === 'reasoning') return typeof encrypted === 'string' && encrypted !== '';
      if (type === 'function_call') return typeof id === 'string' && id === shortName(id);
      return type === 'message';
    })
  );
}

/**
 * A name within this vendor's limit of 64 characters: a longer one (another vendor's) is replaced by its SHA-256
 * digest.
 */
function shortName(name: string): string {
  return name.length <= 64 ? name : createHash('sha256').update(name).digest('hex');
}

/** Reads the token counts of the Responses API; `undefined` if they are missing. */
export function responsesUsage(usage: Json): ModelUsage | undefined {
  const input = countIn(usage.input_tokens);
  const output = countIn(usage.output_tokens);
  if (input === undefined || output === undefined) return undefined;
  const cached = countIn(partsOf(usage.input_tokens_details).cached_tokens);
  const thought = countIn(partsOf(usage.output_tokens_details).reasoning_tokens);
  return {
    input,
    output,
    ...(cached === undefined ? {} : { cachedInput: cached }),
    ...(thought === undefined ? {} : { reasoning: thought }),
  };
}
