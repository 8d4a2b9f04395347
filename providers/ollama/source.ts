/* The provider for Ollama. */
import type {
  FailureKind,
  ModelMessage,
  ModelRequest,
  ReplyEnd,
  ToolCall,
  ToolDeclaration,
} from '../../core/interfaces/model.ts';
import type { ProviderSetting, ProviderSource } from '../../core/interfaces/provider.ts';
import { flagTable } from '../flags.ts';
import { failureByStatus } from '../wire/failures.ts';
import { argumentsAsObject } from '../wire/read-frame.ts';
import { replayed } from '../wire/traffic-file.ts';
import {
  brokenReply,
  callIds,
  countIn,
  endOf,
  type Json,
  listIn,
  maxCalls,
  objectIn,
  partsOf,
  type SaidFailure,
  SaidFailureError,
  textIn,
  type WireFormat,
  type WireReader,
} from '../wire/wire-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';

const port = 11_434;

/** Whether a base is the vendor's own service, which alone wants the vendor's key. */
export function isCloud(base: string): boolean {
  if (!URL.canParse(base)) return false;
  const { hostname } = new URL(base);
  return hostname === 'ollama.com' || hostname.endsWith('.ollama.com');
}

/**
 * Converts the address in OLLAMA_HOST to a URL: `host`, `host:port`, `:port` and a URL are read as the vendor's
 * client reads them. A server's wildcard address (`0.0.0.0`) becomes the loopback. A trailing `/api` is removed,
 * because the paths contain it.
 */
export function toOllamaBase(given: string): string {
  const text = given.trim().replace(/\/{1,8}$/, '');
  const hasScheme = /^https?:\/\//i.test(text);
  const address = hasScheme ? text : `http://${withHost(text)}`;
  if (text === '' || (!hasScheme && text.includes('://')) || !URL.canParse(address)) return given;
  const url = new URL(address);
  if (!hasScheme && url.port === '') {
    if (isCloud(address)) url.protocol = 'https:';
    // `host:80` parses to no port, too.
    else if (!/:80(?:\/|$)/.test(address.slice('http://'.length))) url.port = String(port);
  }
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  return url.href.replace(/\/$/, '').replace(/\/api$/, '');
}

function withHost(text: string): string {
  if (text.startsWith(':')) return /^:\d/.test(text) ? `127.0.0.1${text}` : `[${text}]`;
  // An IPv6 address without brackets has more than one colon.
  return /^[\da-f]{0,4}:[\da-f:.]*:[\da-f:.]*$/i.test(text) ? `[${text}]` : text;
}

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
          // Without these, the server drops the start of a prompt that is too long, without notice.
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

/** A level is sent unchanged: for an unknown word, the server silently uses its default. */
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

const simple = ['string', 'number', 'integer', 'boolean', 'array', 'object'];

/**
 * Returns a schema of the arguments for a simple server: one level of properties, each with one type, its choices
 * and, in a list, the type of its items. It has no descriptions, references, alternatives or bounds: the whole schema
 * validates a call when it arrives.
 */
export function compactSchema(schema: Json): Json {
  const properties = objectIn(schema.properties) ?? {};
  const names = Object.keys(properties);
  const required = listIn(schema.required).filter((name) => names.includes(textIn(name)));
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, compactProperty(properties[name])])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function compactProperty(value: unknown): Json {
  const schema = partsOf(value);
  const type = typeOf(schema);
  const choices = (Object.hasOwn(schema, 'const') ? [schema.const] : listIn(schema.enum)).filter(
    (choice) => typeof choice === 'string',
  );
  return {
    type,
    ...(type === 'string' && choices.length > 0 ? { enum: choices } : {}),
    ...(type === 'array' ? { items: { type: typeOf(partsOf(schema.items)) } } : {}),
  };
}

/** Its one type; of several, the first that is not `null`; of none, what it looks like. */
function typeOf(schema: Json): string {
  const named = [schema.type].flat().find((type) => simple.includes(textIn(type)));
  if (named !== undefined) return textIn(named);
  if (objectIn(schema.properties) || schema.$ref !== undefined) return 'object';
  if (schema.items !== undefined) return 'array';
  const alternatives = [...listIn(schema.anyOf), ...listIn(schema.oneOf)].map(partsOf);
  const first = alternatives.find(({ type }) => type !== 'null');
  if (first !== undefined)
    return (
      [first.type]
        .flat()
        .map(textIn)
        .find((type) => simple.includes(type)) ?? 'object'
    );
  return typeof schema.const === 'number'
    ? 'number'
    : typeof schema.const === 'boolean'
      ? 'boolean'
      : 'string';
}

const smallest = 32_768;
const largest = 262_144;
/** Source code and JSON have three to four octets per token; a lower number leaves a margin. */
const octetsPerToken = 3;
const roomForReply = 8192;

/**
 * Returns the tokens of context to request (`num_ctx`), because the server's default is a few thousand. Uses steps,
 * because the server reloads a model for each other length. The server caps it at the model's limit.
 */
export function contextLength(said: string, maxOutputTokens = roomForReply): number {
  const wanted = Math.ceil(Buffer.byteLength(said) / octetsPerToken) + maxOutputTokens;
  let length = smallest;
  while (length < wanted && length < largest) length *= 2;
  return length;
}

/** Ollama, on this machine or another one of one's own, and the vendor's cloud. */
export const ollama: ProviderSource = {
  title: 'Ollama',
  keys: ['OLLAMA_API_KEY'],
  keyless: (base) => !isCloud(base),
  base: 'http://127.0.0.1:11434',
  baseVariables: ['OLLAMA_HOST', 'OLLAMA_BASE_URL'],
  toBase: toOllamaBase,
  defaultModel: 'qwen3-coder:30b',
  flags: flagTable.ollama,
  open: (setting) => wireProvider(ollamaFormat(setting), setting),
};

/** Converts the conversation for `/api/chat`. */
function toOllamaMessages(request: ModelRequest): readonly Json[] {
  const system = request.system.join('\n\n');
  return [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...request.messages.flatMap((message) => toOllamaMessage(request, message)),
  ];
}

function toOllamaMessage(request: ModelRequest, message: ModelMessage): readonly Json[] {
  if (message.role === 'user') {
    const { text, images = [] } = message;
    const shown = images.length === 0 ? {} : { images: images.map(({ data }) => data) };
    return [{ role: 'user', content: text, ...shown }];
  }
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

/** `done_reason`; older servers give none. */
const ends: Readonly<Record<string, ReplyEnd>> = { stop: 'stop', tool_calls: 'calls', length: 'length' };

/** One reply: a line for each piece, the last one with `done`. A call comes whole, its arguments as an object. */
function ollamaReader(): WireReader {
  const calls: ToolCall[] = [];
  const toId = callIds();
  const thoughts: string[] = [];
  let ended: Json | undefined;
  const takeCall = (value: unknown): void => {
    const { id, function: named } = partsOf(value);
    const { name, arguments: given } = partsOf(named);
    if (calls.length === maxCalls) throw brokenReply(`more than ${maxCalls} calls in one message`);
    calls.push({
      id: toId(textIn(id)),
      name: textIn(name),
      arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
    });
  };
  return {
    *take(frame) {
      const line = objectIn(frame);
      if (line === undefined) throw brokenReply('a line that is no object');
      // Here an error may be without a word.
      if (Object.hasOwn(line, 'error')) throw new SaidFailureError(ollamaFailure(undefined, line));
      const { content, thinking, tool_calls: called } = partsOf(line.message);
      const thought = textIn(thinking);
      if (thought !== '') {
        thoughts.push(thought);
        yield { type: 'reasoning', text: thought };
      }
      const text = textIn(content);
      if (text !== '') yield { type: 'text', text };
      listIn(called).forEach(takeCall);
      if (line.done === true) ended ??= line;
    },
    progress: () => (ended === undefined ? 'begun' : 'whole'),
    *finish() {
      if (ended === undefined) throw brokenReply('the stream ended in the middle of the reply');
      const reason = textIn(ended.done_reason) || 'stop';
      if (reason === 'load' || reason === 'unload')
        throw brokenReply(`the model was to \`${reason}\`, and said nothing`);
      const told = endOf(ends, reason);
      // A count that is nought is left out.
      const input = countIn(ended.prompt_eval_count);
      const output = countIn(ended.eval_count);
      if (input !== undefined || output !== undefined)
        yield { type: 'usage', usage: { input: input ?? 0, output: output ?? 0 } };
      for (const call of calls) yield { type: 'call', call };
      const end = told === 'stop' && calls.length > 0 ? 'calls' : told;
      const state = thoughts.join('');
      yield { type: 'end', end, ...(state === '' ? {} : { state }) };
    },
  };
}

/** This vendor sends only messages where other vendors send codes. */
const byWords: readonly (readonly [RegExp, FailureKind])[] = [
  [/exceeds? the (?:available |maximum )?context|context (?:length|size|window) exceeded/i, 'too-large'],
  [/^model .{0,200} not found/i, 'unknown-model'],
  [/usage limit|quota/i, 'quota-used-up'],
  [/server busy|maximum pending requests|overloaded/i, 'overloaded'],
];

/** Vague statuses; any other status is more exact than its message. */
const vague: readonly FailureKind[] = ['bad-request', 'rate-limited', 'server'];

/** `{error: "text"}`, at some places `{error: {message}}`; without a status it came in the middle of a reply. */
function ollamaFailure(status: number | undefined, body: unknown): SaidFailure {
  const { error } = partsOf(body);
  const found = textIn(error) || textIn(objectIn(error)?.message);
  const kind = status === undefined ? 'server' : failureByStatus(status);
  const told = byWords.find(([words]) => words.test(found.slice(0, 1000)))?.[1];
  return { kind: vague.includes(kind) ? (told ?? kind) : kind, found };
}
