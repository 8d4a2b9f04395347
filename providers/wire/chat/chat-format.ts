/* The chat dialect that many vendors speak. */
import { quoted } from '../../../core/base/printable.ts';
import type {
  FailureKind,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ReplyEnd,
  ToolDeclaration,
} from '../../../core/interfaces/model.ts';
import type { ProviderSetting } from '../../../core/interfaces/provider.ts';
import { temperatureIsFixed } from '../../model-table.ts';
import { argumentsAsText, jsonIn } from '../read-frame.ts';
import { replayed, rowOf } from '../traffic-file.ts';
import {
  brokenReply,
  callIds,
  countIn,
  dataUrl,
  endOf,
  type Json,
  listIn,
  maxCalls,
  objectIn,
  partsOf,
  type SaidFailure,
  SaidFailureError,
  textIn,
  usageEvent,
  type WireFormat,
  type WireReader,
} from '../wire-format.ts';

/** The differences of one vendor's chat dialect. */
export interface ChatDialect {
  readonly provider: string;
  readonly streams: boolean;
  /** Whether a stream reports its tokens only if the request sets `stream_options`. */
  readonly asksForUsage: boolean;
  readonly lengthField: 'max_tokens' | 'max_completion_tokens';
  /** Whether `prompt_cache_key` is known. */
  readonly namesCache: boolean;
  reasoningBack(model: string): ReasoningBack;
  /** Returns why a temperature would have no effect; `undefined` if it has one. */
  noTemperature?(model: string): string | undefined;
  /** The vendor's own fields. PROVIDER_OPTION where flags and model do not go together. */
  own?(request: ModelRequest, streams: boolean): Json;
  readonly notices?: readonly string[];
  failureOf(status: number | undefined, body: unknown): SaidFailure;
}

/**
 * The chat dialect of one vendor. A gateway that loses the calls of a streamed reply will lose them again: later
 * requests do not stream. A server that wants the other name of the limit of a reply is asked again by that name.
 */
export function chatFormat(dialect: ChatDialect, { key }: Pick<ProviderSetting, 'key'>): WireFormat {
  const { provider } = dialect;
  let { streams, lengthField } = dialect;
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
          ...(maxOutputTokens === undefined ? {} : { [lengthField]: maxOutputTokens }),
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
    failureOf(status, body) {
      const said = dialect.failureOf(status, body);
      if (lengthField === 'max_completion_tokens' || !said.found.includes("'max_completion_tokens'"))
        return said;
      lengthField = 'max_completion_tokens';
      // Of this kind it is asked again.
      return { ...said, kind: 'broken-reply' };
    },
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
  if (message.role === 'user') {
    const { text, images = [] } = message;
    if (images.length === 0) return [{ role: 'user', content: text }];
    const shown = images.map((image) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }));
    return [{ role: 'user', content: [{ type: 'text', text }, ...shown] }];
  }
  if (message.role === 'tool')
    return message.results.map(({ callId, text }) => ({ role: 'tool', tool_call_id: callId, content: text }));
  const { text, calls, state } = message;
  // Some vendors refuse an empty message.
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
              function: { name, arguments: argumentsAsText(given) },
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

/** Converts tools to the chat dialect; empty if there are none. */
function toChatTools(tools: readonly ToolDeclaration[]): Json {
  if (tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    })),
  };
}

interface ChatReaderOptions {
  /** Whether the reasoning goes back with the message: then it is its state. */
  readonly keepsReasoning: boolean;
  /** Called if a reply announces calls but contains none. */
  lostCalls?(): void;
}

interface CallParts {
  /** Place among the calls of the message: the vendor's index, else the order in which they come. */
  readonly at: number;
  id: string;
  name: string;
  readonly parts: string[];
  /** A piece came without a name, or with whole arguments: the name once more begins another call. */
  isNamedOnce: boolean;
}

const ends: Readonly<Record<string, ReplyEnd>> = {
  stop: 'stop',
  // What servers and gateways pass on of a model's own words.
  end_turn: 'stop',
  stop_sequence: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  complete: 'stop',
  completed: 'stop',
  tool_calls: 'calls',
  tool_use: 'calls',
  function_call: 'calls',
  length: 'length',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  content_filter: 'filtered',
  sensitive: 'filtered',
};

/** End reasons that report a failure of the vendor. */
const breaks: Readonly<Record<string, FailureKind>> = {
  insufficient_system_resource: 'overloaded',
  network_error: 'server',
  error: 'server',
};

/** A reply in the chat dialect: chunks with deltas, or one whole completion. */
export function chatReader({ keepsReasoning, lostCalls }: ChatReaderOptions): WireReader {
  const calls = openCalls();
  const reasoning: string[] = [];
  let finish = '';
  let refused = false;
  let hasText = false;
  return {
    *take(frame) {
      const { choices, usage } = partsOf(frame);
      const [choice] = listIn(choices);
      const { delta, message, finish_reason: reason, usage: beside } = partsOf(choice);
      // Some vendors count in the choice.
      const told = toUsage(usage) ?? toUsage(beside);
      if (told) yield told;
      const part = partsOf(delta ?? message);
      const thought =
        textIn(part.reasoning_content) || textIn(part.reasoning) || partsIn(part.content, 'thinking');
      if (thought !== '') {
        reasoning.push(thought);
        yield { type: 'reasoning', text: thought };
      }
      refused ||= textIn(part.refusal) !== '';
      const text = textIn(part.content) || partsIn(part.content, 'text') || textIn(part.refusal);
      hasText ||= text !== '';
      if (text !== '') yield { type: 'text', text };
      const begun = calls.take(listIn(part.tool_calls), delta === undefined);
      // A whole completion is not announced: no part of it is pending.
      if (delta !== undefined) for (const name of begun) yield { type: 'calling', name };
      finish ||= textIn(reason).toLowerCase();
    },
    progress: () => (finish === '' ? 'begun' : 'ending'),
    *finish(isDone = false) {
      // Some gateways end a reply with `[DONE]` alone.
      if (finish === '' && isDone && (hasText || calls.all.length > 0)) finish = 'stop';
      if (finish === '') throw brokenReply('the stream ended in the middle of the reply');
      const broken = rowOf(breaks, finish);
      if (broken) throw new SaidFailureError({ kind: broken, found: finish });
      if (rowOf(ends, finish) === 'calls' && calls.all.length === 0) {
        lostCalls?.();
        throw brokenReply('it says that it calls, and calls nothing');
      }
      const said = refused ? 'refused' : endOf(ends, finish);
      const toId = callIds();
      yield* calls.all.toSorted((one, other) => one.at - other.at).map((call) => toCall(call, toId));
      const end = calls.all.length > 0 && said === 'stop' ? 'calls' : said;
      const state = reasoning.join('');
      yield { type: 'end', end, ...(keepsReasoning && state !== '' ? { state } : {}) };
    },
  };
}

/** Text of a content in parts, such as `{type: 'text', text}` and `{type: 'thinking', thinking: […]}`. */
function partsIn(content: unknown, kind: 'text' | 'thinking'): string {
  return listIn(content)
    .map(partsOf)
    .filter(({ type }) => type === kind)
    .map((part) => textIn(part[kind]) || partsIn(part[kind], 'text'))
    .join('');
}

/** The calls of one message out of their pieces. */
function openCalls(): {
  /** Adds the pieces of one frame; returns the names of calls that begin or continue in them. */
  take(pieces: readonly unknown[], areWhole: boolean): readonly string[];
  readonly all: readonly CallParts[];
} {
  const all: CallParts[] = [];
  const byIndex = new Map<number, CallParts>();
  const begin = (index: number | undefined): CallParts => {
    const call = { at: index ?? all.length, id: '', name: '', parts: [], isNamedOnce: false };
    all.push(call);
    if (index !== undefined) byIndex.set(index, call);
    if (all.length > maxCalls) throw brokenReply(`more than ${maxCalls} calls in one message`);
    return call;
  };
  const take = (value: unknown, isWhole: boolean, isNextWithoutIndex: boolean): string => {
    const { index: given, id: givenId, function: called } = partsOf(value);
    const { name: givenName, arguments: givenArgs } = partsOf(called);
    // Some servers answer with the object itself.
    const args = objectIn(givenArgs) ? JSON.stringify(givenArgs) : textIn(givenArgs);
    const index = countIn(given);
    const id = textIn(givenId);
    const name = textIn(givenName);
    const before = index === undefined ? all.at(-1) : byIndex.get(index);
    const isOther =
      before === undefined ||
      isWhole ||
      // Some servers give each piece of one call a new id: a piece that begins a call has a name.
      (id !== '' && before.id !== '' && id !== before.id && typeof givenName === 'string') ||
      (name !== '' && name !== before.name && before.parts.length > 0) ||
      (name !== '' && before.isNamedOnce && args !== '' && (id === '' || id !== before.id)) ||
      (index === undefined && isNextWithoutIndex);
    const call = isOther ? begin(index) : before;
    call.id ||= id;
    // A name may come in pieces, or whole with each piece.
    const isNew = name !== '' && name !== call.name;
    if (isNew) call.name += name;
    if (args !== '') call.parts.push(args);
    call.isNamedOnce ||= args !== '' && (name === '' || objectIn(jsonIn(args)) !== undefined);
    return isNew ? call.name : '';
  };
  return {
    all,
    take: (pieces, areWhole) =>
      pieces.map((piece, place) => take(piece, areWhole, place > 0)).filter((name) => name !== ''),
  };
}

function toCall({ id, name, parts }: CallParts, toId: (given: string) => string): ModelEvent {
  const given = parts.join('');
  return { type: 'call', call: { id: toId(id), name, arguments: given === '' ? '{}' : given } };
}

function toUsage(value: unknown): ModelEvent | undefined {
  const usage = objectIn(value);
  const input = countIn(usage?.prompt_tokens);
  const output = countIn(usage?.completion_tokens);
  if (usage === undefined || input === undefined || output === undefined) return undefined;
  const cached =
    countIn(partsOf(usage.prompt_tokens_details).cached_tokens) ??
    countIn(usage.prompt_cache_hit_tokens) ??
    countIn(usage.cached_tokens);
  const thought = countIn(partsOf(usage.completion_tokens_details).reasoning_tokens);
  return usageEvent(input, output, cached, thought);
}
