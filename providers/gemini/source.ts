/* The provider for Google Gemini. */
import type {
  AssistantMessage,
  FailureKind,
  ModelEvent,
  ModelRequest,
  ReplyEnd,
  ToolResult,
} from '../../core/interfaces/model.ts';
import type { ProviderSetting, ProviderSource } from '../../core/interfaces/provider.ts';
import { bounded, failureByStatus } from '../wire/failures.ts';
import { argumentsAsObject } from '../wire/read-frame.ts';
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
  textIn,
  usageEvent,
  versioned,
  type WireFormat,
  type WireReader,
} from '../wire/wire-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';

/** generateContent, as a stream (ai.google.dev/api/generate-content). */
function geminiFormat({ key, base }: Pick<ProviderSetting, 'key' | 'base'>): WireFormat {
  return {
    provider: 'gemini',
    toWire: (request) => ({
      path: versioned(base, '/v1beta', `/${pathOf(request.model)}:streamGenerateContent?alt=sse`),
      headers: key === undefined ? {} : { 'x-goog-api-key': key },
      framing: 'events',
      body: {
        ...toInstruction(request),
        contents: toContents(request),
        ...toTools(request),
        ...toConfig(request),
      },
    }),
    reader: () => geminiReader(),
    failureOf: geminiFailure,
  };
}

/** `models/<id>`, whatever the id holds: it is one name, not a path. */
function pathOf(model: string): string {
  const [, kind = 'models', name = ''] = /^(?:(models|tunedModels)\/)?(.*)$/s.exec(model) ?? [];
  return `${kind}/${encodeURIComponent(name.toWellFormed())}`;
}

function toConfig({ model, maxOutputTokens, temperature }: ModelRequest): object {
  const thinkingConfig = geminiFamily(model)?.thinkingConfig;
  const config = {
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
  };
  return Object.keys(config).length === 0 ? {} : { generationConfig: config };
}

/** `google.rpc.ErrorInfo`: the most exact word. */
const byReason: Readonly<Record<string, FailureKind>> = {
  API_KEY_INVALID: 'key-refused',
  BILLING_DISABLED: 'no-credit',
};

/** Message patterns, for a status with several causes. */
const byWords: readonly (readonly [string, RegExp, FailureKind])[] = [
  ['INVALID_ARGUMENT', /api key not valid|api key expired/i, 'key-refused'],
  ['INVALID_ARGUMENT', /input token count|request payload size exceeds/i, 'too-large'],
  ['RESOURCE_EXHAUSTED', /prepayment credits|credits are depleted/i, 'no-credit'],
];

/** `google.rpc.Code` by name; the others mean what their HTTP status does. */
const byCode: Readonly<Record<string, FailureKind>> = {
  UNAUTHENTICATED: 'key-refused',
  PERMISSION_DENIED: 'forbidden',
  // A region or a free tier that the vendor does not serve.
  FAILED_PRECONDITION: 'forbidden',
  NOT_FOUND: 'unknown-model',
  INVALID_ARGUMENT: 'bad-request',
  RESOURCE_EXHAUSTED: 'rate-limited',
  UNAVAILABLE: 'overloaded',
  INTERNAL: 'server',
  UNKNOWN: 'server',
  DEADLINE_EXCEEDED: 'server',
  CANCELLED: 'server',
};

/** `{error: {code, message, status, details}}`, in a list of one at times; without a status it came in a reply. */
function geminiFailure(status: number | undefined, body: unknown): SaidFailure {
  const { message, status: named, details } = partsOf(partsOf(Array.isArray(body) ? body[0] : body).error);
  const code = textIn(named);
  const found = textIn(message);
  const told = listIn(details).slice(0, 32).map(partsOf);
  const kind =
    told.map(({ reason }) => rowOf(byReason, textIn(reason))).find((one) => one !== undefined) ??
    byWords.find(([of, words]) => of === code && words.test(found))?.[2] ??
    (code === 'RESOURCE_EXHAUSTED' && told.some(isOfTheDay) ? 'quota-used-up' : undefined) ??
    rowOf(byCode, code) ??
    (status === undefined ? 'server' : failureByStatus(status));
  const wait = told.map(({ retryDelay }) => secondsIn(retryDelay)).find((one) => one !== undefined);
  return { kind, found, ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
}

/** `google.rpc.QuotaFailure` of a quota that comes back the next day, not the next minute. */
function isOfTheDay({ violations }: Json): boolean {
  return listIn(violations)
    .slice(0, 32)
    .some((one) => /PerDay/.test(textIn(partsOf(one).quotaId)));
}

/** `google.rpc.RetryInfo`: a duration such as `36s` or `36.42s`. */
function secondsIn(value: unknown): number | undefined {
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(textIn(value)) ?? [];
  return seconds === undefined ? undefined : bounded(Number(seconds));
}

/** Google's Gemini over generateContent (not the Interactions API, which is a beta). */
export const gemini: ProviderSource = {
  title: 'Gemini',
  keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  base: 'https://generativelanguage.googleapis.com/v1beta',
  // The second is what the vendor's own command line reads.
  baseVariables: ['GEMINI_BASE_URL', 'GOOGLE_GEMINI_BASE_URL'],
  defaultModel: 'gemini-4-argon',
  flags: [],
  open: (setting) => wireProvider(geminiFormat(setting), setting),
};

/** The vendor accepts this as the signature of a call that another model made (docs/thought-signatures, questions). */
const nobodysSignature = 'skip_thought_signature_validator';

/** The conversation as `contents`. */
function toContents({ model, messages }: ModelRequest): readonly Json[] {
  const signsCalls = geminiFamily(model)?.signsCalls ?? false;
  let ids: readonly string[] = [];
  return messages.flatMap((message): readonly Json[] => {
    if (message.role === 'user') {
      const shown = (message.images ?? []).map(({ mediaType, data }) => ({
        inlineData: { mimeType: mediaType, data },
      }));
      return [{ role: 'user', parts: [...shown, { text: message.text }] }];
    }
    // All answers in one turn: the vendor wants as many as there were calls.
    if (message.role === 'tool')
      return [{ role: 'user', parts: message.results.map((result, place) => toAnswer(result, ids[place])) }];
    const parts = partsOfMessage(message, model, signsCalls);
    ids = parts.flatMap(({ functionCall }) => (objectIn(functionCall) ? [idOf(functionCall)] : []));
    return parts.length === 0 ? [] : [{ role: 'model', parts: signsCalls ? signed(parts) : parts }];
  });
}

/** As they came, where they came from this model. */
function partsOfMessage(message: AssistantMessage, model: string, withIds: boolean): readonly Json[] {
  const kept = replayed(message.state, 'gemini', model);
  if (Array.isArray(kept) && kept.every((part) => objectIn(part))) return kept as readonly Json[];
  return [
    ...(message.text === '' ? [] : [{ text: message.text }]),
    ...message.calls.map(({ id, name, arguments: given }) => ({
      functionCall: { ...(withIds ? { id } : {}), name, args: argumentsAsObject(given) },
    })),
  ];
}

/** The first call of a turn has a signature, or the whole question is refused. */
function signed(parts: readonly Json[]): readonly Json[] {
  const first = parts.findIndex(({ functionCall }) => objectIn(functionCall));
  return parts.map((part, place) =>
    place === first && part.thoughtSignature === undefined
      ? { ...part, thoughtSignature: nobodysSignature }
      : part,
  );
}

function idOf(call: unknown): string {
  return textIn(objectIn(call)?.id);
}

/** By place, not by name: the id is the vendor's own, and there is none where it gave none. */
function toAnswer({ name, text, isError }: ToolResult, id = ''): Json {
  return {
    functionResponse: {
      ...(id === '' ? {} : { id }),
      name,
      response: isError ? { error: text } : { output: text },
    },
  };
}

/** Converts tools to function declarations; empty if there are none. */
function toTools({ tools }: ModelRequest): Json {
  if (tools.length === 0) return {};
  return {
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parametersJsonSchema: parameters,
        })),
      },
    ],
  };
}

/** Converts the instructions, each to a separate part. */
function toInstruction({ system }: Pick<ModelRequest, 'system'>): Json {
  const parts = system.filter((text) => text !== '').map((text) => ({ text }));
  return parts.length === 0 ? {} : { systemInstruction: { parts } };
}

/** Why a candidate ended (ai.google.dev/api/generate-content, FinishReason); any other value is a broken reply. */
const ends: Readonly<Record<string, ReplyEnd>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  LANGUAGE: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  IMAGE_RECITATION: 'filtered',
};

/** Reads a reply: each frame is a whole GenerateContentResponse; no frame is marked as the last. */
function geminiReader(): WireReader {
  const kept = keptParts();
  const toId = callIds();
  let finish = '';
  let why = '';
  let calls = 0;
  const takePart = function* (part: Json): Iterable<ModelEvent> {
    const call = objectIn(part.functionCall);
    const text = textIn(part.text);
    if (call) {
      calls += 1;
      const args = objectIn(call.args) ?? {};
      const given = textIn(call.id);
      const id = toId(given);
      kept.add(callPart(part, given === '' ? {} : { id }, textIn(call.name), args));
      yield { type: 'call', call: { id, name: textIn(call.name), arguments: JSON.stringify(args) } };
      return;
    }
    // Parts without text and calls were not requested; a signature may come alone.
    kept.add({ ...(part.thought === true ? { thought: true } : {}), text, ...signatureOf(part) });
    if (text !== '') yield { type: part.thought === true ? 'reasoning' : 'text', text };
  };
  const takeFrame = function* (frame: Json): Iterable<ModelEvent> {
    const told = toUsage(frame.usageMetadata);
    if (told) yield told;
    const blocked = textIn(partsOf(frame.promptFeedback).blockReason);
    const [candidate] = listIn(frame.candidates);
    const { content, finishReason, finishMessage } = partsOf(candidate);
    for (const part of listIn(partsOf(content).parts)) yield* takePart(partsOf(part));
    // A prompt that was blocked has no candidate.
    finish ||= textIn(finishReason) || (blocked === '' ? '' : 'SAFETY');
    why ||= blocked || textIn(finishMessage);
  };
  return {
    *take(frame) {
      // A server that knows no `alt=sse` sends one list of all frames.
      for (const one of Array.isArray(frame) ? frame : [frame]) yield* takeFrame(partsOf(one));
    },
    // No frame is marked as the last, and older models end each with `STOP`.
    progress: () => (finish === '' ? 'begun' : 'ending'),
    *finish() {
      if (finish === '') throw brokenReply('the stream ended in the middle of the reply');
      const end = endOf(ends, finish, why);
      if (end === 'filtered')
        yield { type: 'notice', text: `the vendor held the reply back: ${why || finish}` };
      const state = kept.parts();
      yield {
        type: 'end',
        end: end === 'stop' && calls > 0 ? 'calls' : end,
        ...(state.length === 0 ? {} : { state }),
      };
    },
  };
}

function callPart(part: Json, id: { id?: string }, name: string, args: Json): KeptPart {
  return { functionCall: { ...id, name, args }, ...signatureOf(part) };
}

/** If a signature is not base64, the vendor would refuse the next request. */
function signatureOf({ thoughtSignature: given }: Json): { readonly thoughtSignature?: string } {
  return typeof given === 'string' && /^[A-Za-z0-9+/_-]+={0,2}$/.test(given)
    ? { thoughtSignature: given }
    : {};
}

/** Thoughts are not included in the candidate's tokens here, and count as output. */
function toUsage(value: unknown): ModelEvent | undefined {
  const usage = objectIn(value);
  const prompt = countIn(usage?.promptTokenCount);
  if (usage === undefined || prompt === undefined) return undefined;
  const thought = countIn(usage.thoughtsTokenCount);
  const cached = countIn(usage.cachedContentTokenCount);
  const input = countIn(prompt + (countIn(usage.toolUsePromptTokenCount) ?? 0));
  const output = countIn((countIn(usage.candidatesTokenCount) ?? 0) + (thought ?? 0));
  if (input === undefined || output === undefined) return undefined;
  return usageEvent(input, output, cached, thought);
}

/** A part of a reply as it goes back. */
type KeptPart =
  | { readonly thought?: true; readonly text: string; readonly thoughtSignature?: string }
  | { readonly functionCall: Json; readonly thoughtSignature?: string };

/** Limit for parts of one reply that cannot be joined: a vendor that signs every word is faulty. */
const maxParts = 4096;

/**
 * The parts of a reply, in order. Text without a signature that came in pieces is one part again; a part with one is
 * kept as it came, empty too, since the signature belongs to that part in that place (docs/thought-signatures).
 */
function keptParts(): { add(part: KeptPart): void; parts(): readonly KeptPart[] } {
  const parts: KeptPart[] = [];
  let pieces: string[] = [];
  let thought = false;
  const close = (): void => {
    if (pieces.length > 0) parts.push({ ...(thought ? { thought } : {}), text: pieces.join('') });
    pieces = [];
    if (parts.length > maxParts) throw brokenReply(`more than ${maxParts} parts in one message`);
  };
  return {
    add(part) {
      const isPiece = 'text' in part && part.thoughtSignature === undefined;
      if (isPiece && part.text === '') return;
      if (!isPiece || (part.thought === true) !== thought) close();
      if (!isPiece) {
        parts.push(part);
        return;
      }
      thought = part.thought === true;
      pieces.push(part.text);
    },
    parts() {
      close();
      return parts;
    },
  };
}

/** Settings for one family of models. */
interface GeminiFamily {
  readonly models: RegExp;
  readonly thinkingConfig: Json;
  /** Whether a call without a signature is refused, and calls and their results are matched by id. */
  readonly signsCalls: boolean;
}

/**
 * By model id, the first that matches (ai.google.dev/gemini-api/docs/thinking). A budget and a level in one question
 * are refused, and so is a level by models that know budgets alone. -1 lets the model decide.
 */
const families: readonly GeminiFamily[] = [
  {
    models: /^gemini-2\.5-(?:pro|flash)/,
    thinkingConfig: { includeThoughts: true, thinkingBudget: -1 },
    signsCalls: false,
  },
  {
    models: /^gemini-(?:[3-9]|\d\d)(?:\.\d+)?-/,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
    signsCalls: true,
  },
  {
    models: /^gemini-(?:pro|flash|flash-lite)-latest$/,
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
    signsCalls: true,
  },
];

/** Returns the family of a model; `undefined` for an unknown one, which gets a request without these settings. */
function geminiFamily(model: string): GeminiFamily | undefined {
  const name = model.replace(/^models\//, '');
  return families.find(({ models }) => models.test(name));
}
