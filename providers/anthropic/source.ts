/* The provider for Anthropic's Messages API. */
import type {
  AssistantMessage,
  FailureKind,
  ModelEvent,
  ModelImage,
  ModelRequest,
  ReplyEnd,
  ToolCall,
  ToolResult,
} from '../../core/interfaces/model.ts';
import type { ProviderSetting, ProviderSource } from '../../core/interfaces/provider.ts';
import { failureByStatus } from '../wire/failures.ts';
import { argumentsAsObject, jsonIn } from '../wire/read-frame.ts';
import { replayed, rowOf } from '../wire/traffic-file.ts';
import {
  brokenReply,
  callIds,
  countIn,
  endOf,
  type Json,
  listIn,
  objectIn,
  partsOf,
  type SaidFailure,
  SaidFailureError,
  textIn,
  versioned,
  type WireFormat,
  type WireReader,
  type WireRequest,
} from '../wire/wire-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';

/**
 * The API version that this code targets. Of the fields used here, version 2026-10-21 removes only `temperature`,
 * which some models still accept. Other servers with this API do not know that version.
 */
const version = '2023-06-01';

/** The Messages API, as a stream (platform.claude.com/docs/en/api/messages). */
function anthropicFormat({ key, base }: Pick<ProviderSetting, 'key' | 'base'>): WireFormat {
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
 * Builds tools, instructions and conversation. If the prompt is to be cached, each ends with a mark: the vendor
 * caches everything before a mark, and accepts four.
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

/** Anthropic's Messages API, and whatever speaks it at another base. */
export const anthropic: ProviderSource = {
  title: 'Anthropic',
  keys: ['ANTHROPIC_API_KEY'],
  base: 'https://api.anthropic.com',
  baseVariables: ['ANTHROPIC_BASE_URL'],
  defaultModel: 'claude-opus-5-5',
  flags: [],
  open: (setting) => wireProvider(anthropicFormat(setting), setting),
};

interface AnthropicMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Json[];
}

/** Builds the conversation; text of the user is in one message with the tool results before it, after them. */
function toMessages({ model, messages }: ModelRequest): readonly AnthropicMessage[] {
  const wire: AnthropicMessage[] = [];
  const toId = wireIds();
  let ids: readonly string[] = [];
  const add = (role: AnthropicMessage['role'], content: readonly Json[]): void => {
    const last = wire.at(-1);
    if (content.length === 0) return;
    if (role === 'user' && last?.role === 'user')
      wire[wire.length - 1] = { role, content: [...last.content, ...content] };
    else wire.push({ role, content });
  };
  for (const message of messages) {
    if (message.role === 'user')
      add('user', [...(message.images ?? []).map(imageBlock), ...textBlocks(message.text)]);
    else if (message.role === 'tool')
      add(
        'user',
        message.results.map((result, place) => toResult(result, ids[place] ?? result.callId)),
      );
    else {
      const content = blocksOf(message, model, toId);
      ids = content.flatMap(({ type, id }) => (type === 'tool_use' ? [textIn(id)] : []));
      add('assistant', content);
    }
  }
  return wire;
}

function imageBlock({ mediaType, data }: ModelImage): Json {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

/** Text without anything in it is refused. */
function textBlocks(text: string): readonly Json[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** As they came, where they came from this model: the vendor checks what it signed. */
function blocksOf(message: AssistantMessage, model: string, toId: ToId): readonly Json[] {
  const kept = replayed(message.state, 'anthropic', model);
  if (Array.isArray(kept) && kept.every((block) => objectIn(block))) {
    for (const { type, id } of kept as readonly Json[]) if (type === 'tool_use') toId(textIn(id), true);
    return kept as readonly Json[];
  }
  return [
    ...textBlocks(message.text),
    ...message.calls.map(({ id, name, arguments: given }) => ({
      type: 'tool_use',
      id: toId(id, false),
      name,
      input: argumentsAsObject(given),
    })),
  ];
}

function toResult({ text, isError }: ToolResult, id: string): Json {
  // An error without a word is refused.
  const content = isError && text.trim() === '' ? '(no output)' : text;
  return { type: 'tool_result', tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

type ToId = (given: string, isOwn: boolean) => string;

/** Ids as the vendor wants them, `[a-zA-Z0-9_-]+` and no two alike in a conversation; its own stay as they are. */
function wireIds(): ToId {
  const taken = new Set<string>();
  return (given, isOwn) => {
    const plain = given.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 48) || 'call';
    let id = isOwn ? given : plain;
    for (let next = 2; !isOwn && taken.has(id); next += 1) id = `${plain}-${next}`;
    taken.add(id);
    return id;
  };
}

/**
 * `stop_reason` (platform.claude.com/docs/en/api/handling-stop-reasons); any other value is a broken reply.
 */
const ends: Readonly<Record<string, ReplyEnd>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  pause_turn: 'paused',
  refusal: 'refused',
  sensitive: 'filtered',
};

/** Blocks of one message. */
const maxBlocks = 4096;

/** A reply: events by the `type` in their data, or one whole message. */
export function anthropicReader(): WireReader {
  const blocks: Block[] = [];
  /** By index; `undefined` for a block of a kind that was not requested. */
  const open = new Map<unknown, Block | undefined>();
  const usage = usageReader();
  let started = 0;
  let reason = '';
  let why = '';
  let isWhole = false;
  const start = (index: unknown, given: Json): readonly ModelEvent[] => {
    const block = openBlock(given);
    started += 1;
    if (started > maxBlocks) throw brokenReply(`more than ${maxBlocks} blocks in one message`);
    open.set(index, block);
    if (block === undefined) return [];
    blocks.push(block);
    return block.add(given);
  };
  const stopped = ({ stop_reason: given, stop_details: details }: Json): void => {
    reason ||= textIn(given);
    why ||= textIn(partsOf(details).explanation);
  };
  return {
    *take(frame) {
      const { type, message, index, content_block, delta, usage: told, content } = partsOf(frame);
      if (type === 'error') throw new SaidFailureError(anthropicFailure(undefined, frame));
      if (type === 'message_start') {
        stopped(partsOf(message));
        yield* usage(partsOf(message).usage);
      } else if (type === 'content_block_start') {
        const begun = partsOf(content_block);
        yield* start(index, begun);
        const called = begun.type === 'tool_use' ? textIn(begun.name) : '';
        if (called !== '') yield { type: 'calling', name: called };
      } else if (type === 'content_block_delta') {
        if (!open.has(index)) throw brokenReply('a piece of a block that never began');
        yield* open.get(index)?.add(partsOf(delta)) ?? [];
      } else if (type === 'content_block_stop') {
        open.delete(index);
      } else if (type === 'message_delta') {
        stopped(partsOf(delta));
        yield* usage(told);
      } else if (type === 'message_stop') {
        isWhole = true;
      } else if (type === 'message') {
        for (const [place, block] of listIn(content).entries()) yield* start(place, partsOf(block));
        stopped(partsOf(frame));
        yield* usage(told);
        isWhole = true;
      }
    },
    progress: () => (isWhole ? 'whole' : 'begun'),
    *finish() {
      if (!isWhole || reason === '') throw brokenReply('the stream ended in the middle of the reply');
      const end = endOf(ends, reason);
      if (why !== '') yield { type: 'notice', text: why };
      // After a refusal by the model or the vendor, its pending calls do not run.
      if (end === 'refused' || end === 'filtered') {
        yield { type: 'end', end };
        return;
      }
      const toId = callIds();
      const state: Json[] = [];
      let calls = 0;
      for (const block of blocks) {
        const call = block.call?.(toId, end === 'length' && block === blocks.at(-1));
        if (call) yield { type: 'call', call };
        calls += call ? 1 : 0;
        const kept = block.kept(call);
        if (kept) state.push(kept);
      }
      if (end === 'calls' && calls === 0) throw brokenReply('it says that it calls, and calls nothing');
      yield {
        type: 'end',
        end: (end === 'stop' || end === 'paused') && calls > 0 ? 'calls' : end,
        ...(state.length === 0 ? {} : { state }),
      };
    },
  };
}

/** Reads `usage`, which comes in parts: at the start what went in, at the end what came out, each time cumulative. */
function usageReader(): (usage: unknown) => Iterable<ModelEvent> {
  const counts = new Map<string, number>();
  const note = (name: string, value: unknown): void => {
    const count = countIn(value);
    if (count !== undefined) counts.set(name, count);
  };
  return function* (usage) {
    const told = partsOf(usage);
    for (const name of [
      'input_tokens',
      'output_tokens',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
    ])
      note(name, told[name]);
    note('thinking_tokens', partsOf(told.output_tokens_details).thinking_tokens);
    const fresh = counts.get('input_tokens');
    const output = counts.get('output_tokens');
    if (fresh === undefined || output === undefined) return;
    const cached = counts.get('cache_read_input_tokens');
    const reasoning = counts.get('thinking_tokens');
    // The vendor's `input_tokens` are those that no cache had to do with.
    const input = countIn(fresh + (cached ?? 0) + (counts.get('cache_creation_input_tokens') ?? 0));
    if (input === undefined) return;
    yield {
      type: 'usage',
      usage: {
        input,
        output,
        ...(cached === undefined ? {} : { cachedInput: cached }),
        ...(reasoning === undefined ? {} : { reasoning }),
      },
    };
  };
}

/** Settings for one family of models. */
interface AnthropicFamily {
  readonly models: RegExp;
  /**
   * Whether it thinks as much as it sees fit. Where it does, a temperature is refused: by some models always, by the
   * others next to thinking.
   */
  readonly adaptive: boolean;
  /**
   * Used if the request sets no limit: the vendor refuses a request without a number, and one above the model's
   * limit.
   */
  readonly maxTokens: number;
}

/**
 * By model id, the first that matches (platform.claude.com/docs: adaptive thinking, models overview). Older models
 * think only with a budget; writ sends none, so they do not think.
 */
const families: readonly AnthropicFamily[] = [
  { models: /^claude-[a-z]+-4-[6-9](?:-|$)/, adaptive: true, maxTokens: 64_000 },
  { models: /^claude-[a-z]+-4-5(?:-|$)/, adaptive: false, maxTokens: 64_000 },
  { models: /^claude-[a-z]+-4(?:-|$)/, adaptive: false, maxTokens: 32_000 },
  { models: /^claude-[a-z]+-(?:[5-9]|\d\d)(?:-|$)/, adaptive: true, maxTokens: 64_000 },
];

/** Whatever else speaks this wire. */
const unknown: Omit<AnthropicFamily, 'models'> = { adaptive: false, maxTokens: 8192 };

/** The family of a model. */
function anthropicFamily(model: string): Omit<AnthropicFamily, 'models'> {
  return families.find(({ models }) => models.test(model)) ?? unknown;
}

/** `error.details.error_code`, where there is one: the only exact word. */
const byCode: Readonly<Record<string, FailureKind>> = {
  organization_on_hold: 'forbidden',
  contract_spend_limit_reached: 'quota-used-up',
  enforced_spend_limit_reached: 'quota-used-up',
  linked_organization_spend_limit_reached: 'quota-used-up',
  linked_organization_billing_unavailable: 'no-credit',
  request_body_too_large_after_decoding: 'too-large',
};

/** A bad request has many causes that only its message distinguishes; any other message stays a bad request. */
const byWords: readonly (readonly [RegExp, FailureKind])[] = [
  [/credit balance is too low/i, 'no-credit'],
  [/reached your specified .{0,40}usage limits/i, 'quota-used-up'],
  [/prompt is too long|exceeds? (?:the )?(?:context|maximum allowed)/i, 'too-large'],
];

/** `error.type` (platform.claude.com/docs/en/api/errors). */
const byType: Readonly<Record<string, FailureKind>> = {
  invalid_request_error: 'bad-request',
  authentication_error: 'key-refused',
  billing_error: 'no-credit',
  permission_error: 'forbidden',
  not_found_error: 'unknown-model',
  request_too_large: 'too-large',
  rate_limit_error: 'rate-limited',
  api_error: 'server',
  timeout_error: 'server',
  overloaded_error: 'overloaded',
};

/** `{type: "error", error: {type, message, details?}}`; without a status it came in the middle of a reply. */
function anthropicFailure(status: number | undefined, body: unknown): SaidFailure {
  const { type, message, details } = partsOf(partsOf(body).error);
  const named = textIn(type);
  const found = textIn(message);
  const kind =
    rowOf(byCode, textIn(partsOf(details).error_code)) ??
    (named === 'invalid_request_error' ? byWords.find(([words]) => words.test(found))?.[1] : undefined) ??
    rowOf(byType, named) ??
    (status === undefined ? 'server' : failureByStatus(status));
  return { kind, found };
}

/** A content block as it comes. */
interface Block {
  /** Adds a delta; returns the events for its new content. */
  add(delta: Json): readonly ModelEvent[];
  /** Returns the block's call; `undefined` if its end is missing. Absent for other kinds of block. */
  readonly call?: (toId: (given: string) => string, isCut: boolean) => ToolCall | undefined;
  /**
   * Returns the block to send back, with everything that the vendor signs; `undefined` if the vendor would refuse it.
   */
  kept(call: ToolCall | undefined): Json | undefined;
}

/**
 * Opens a block from its start event, which may contain the whole block; `undefined` for a kind that was not
 * requested.
 */
function openBlock(start: Json): Block | undefined {
  return Object.hasOwn(kinds, textIn(start.type)) ? kinds[start.type as keyof typeof kinds]() : undefined;
}

const kinds = {
  text: (): Block => {
    const pieces: string[] = [];
    return {
      add: ({ text }) => told('text', text, pieces),
      // The vendor sends empty text and refuses it.
      kept() {
        const text = pieces.join('');
        return text.trim() === '' ? undefined : { type: 'text', text };
      },
    };
  },
  thinking: (): Block => {
    const pieces: string[] = [];
    const signed: string[] = [];
    return {
      add({ thinking, signature }) {
        signed.push(textIn(signature));
        return told('reasoning', thinking, pieces);
      },
      // What is not signed would be refused; what is may be empty.
      kept() {
        const signature = signed.join('');
        return signature === '' ? undefined : { type: 'thinking', thinking: pieces.join(''), signature };
      },
    };
  },
  redacted_thinking: (): Block => {
    let sealed = '';
    return {
      add({ data }) {
        sealed ||= textIn(data);
        return [];
      },
      kept: () => ({ type: 'redacted_thinking', data: sealed }),
    };
  },
  tool_use: (): Block => {
    const pieces: string[] = [];
    let named: { readonly id: string; readonly name: string; readonly input: string } | undefined;
    return {
      add({ partial_json: piece, input, id, name }) {
        named ??= { id: textIn(id), name: textIn(name), input: JSON.stringify(objectIn(input) ?? {}) };
        pieces.push(textIn(piece));
        return [];
      },
      call(toId, isCut) {
        const { id = '', name = '', input = '{}' } = named ?? {};
        const given = pieces.join('') || input;
        // Cut before its first argument it looks like a call without any.
        if (isCut && (given === '{}' || jsonIn(given) === undefined)) return undefined;
        return { id: toId(id), name, arguments: given };
      },
      kept: (call) =>
        call && {
          type: 'tool_use',
          id: call.id,
          name: call.name,
          input: argumentsAsObject(call.arguments),
        },
    };
  },
};

function told(type: 'text' | 'reasoning', text: unknown, pieces: string[]): readonly ModelEvent[] {
  if (typeof text !== 'string' || text === '') return [];
  pieces.push(text);
  return [{ type, text }];
}
