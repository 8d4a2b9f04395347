/* A provider over HTTP, built from a wire format. */
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { readEventStream } from '../../core/base/event-stream.ts';
import type { OpenAnswer } from '../../core/base/http-question.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { ModelEvent, ModelRequest, ToolCall } from '../../core/interfaces/model.ts';
import { type Provider, type ProviderSetting, providerFailure } from '../../core/interfaces/provider.ts';
import { digestExchanges } from '../../readers/sensitive/model-work.ts';
import { costUnits, knownModel } from '../model-table.ts';
import { replyCleaner, strayText } from './clean-reply.ts';
import { retryAfterSeconds, saysFailure, withTooLarge, wrongAddress } from './failures.ts';
import { readFrame, readLines, untilQuiet } from './read-frame.ts';
import {
  brokenReply,
  maxCalls,
  type ReplyProgress,
  requestIdOf,
  type SaidFailure,
  SaidFailureError,
  sendableRequest,
  type WireFormat,
  type WireRequest,
} from './wire-format.ts';

/** Until a vendor answers at all: a model may think before its first header. */
const withinMs = 300_000;
/** Between two pieces; vendors send something to keep a connection alive. */
const idleMs = 300_000;
const maxReplyBytes = 64 * 1024 * 1024;
const maxFrameBytes = 8 * 1024 * 1024;
const maxFailureBytes = 64 * 1024;
/** Arguments of all calls of one message together, in characters: they are kept, and parsed again. */
const maxArguments = 8 * 1024 * 1024;
/** Maximum number of characters that a message quotes from an answer that is not a reply. */
const maxQuoted = 300;

/** A provider over HTTP out of a vendor's wire. Every fault of the other side is PROVIDER_FAILED. */
export function wireProvider(format: WireFormat, setting: ProviderSetting): Provider {
  return {
    name: format.provider,
    costUnits,
    contextTokens: (model) => knownModel(model)?.contextTokens,
    async *ask(request, signal, heard) {
      const { stream } = setting;
      const digested = heard === undefined ? stream : digestExchanges(stream, heard);
      try {
        yield* askOnce(format, { ...setting, stream: digested }, request, signal);
      } catch (fault) {
        signal.throwIfAborted();
        throw toFailure(format.provider, fault, setting.key);
      }
    },
  };
}

async function* askOnce(
  format: WireFormat,
  { key, base, isOtherBase, stream, clock }: ProviderSetting,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const wire = format.toWire(sendableRequest(request));
  for (const text of wire.notices ?? []) yield { type: 'notice', text };
  const own = format.isNamedHere ? uuidV7(clock.now()) : undefined;
  // Reported before the request is sent, so that an unanswered request has an id too.
  if (own !== undefined) yield { type: 'asked', requestId: own };
  await using answer = await stream({
    url: `${base}${wire.path}`,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: wire.framing === 'events' ? 'text/event-stream' : 'application/json',
      ...wire.headers,
      ...(own === undefined ? {} : { 'x-request-id': own }),
    },
    // Half a character, of a text that was cut, is refused by some vendors with the whole question.
    body: JSON.stringify(wire.body, (_name, value) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    ),
    withinMs,
    idleMs,
    maxBytes: maxReplyBytes,
    signal,
  });
  const { status, headers } = answer;
  const requestId = own ?? requestIdOf(headers);
  if (status !== 200) {
    const text = await readText(answer, maxFailureBytes);
    const heard = withTooLarge(withText(format.failureOf(status, asJson(text)), text));
    const asked = { base, isOtherBase, path: wire.path, status, headers, model: request.model, text };
    const said = wrongAddress(asked, heard) ?? heard;
    const wait = said.retryAfterSeconds ?? retryAfterSeconds(headers, clock.now());
    throw providerFailure({
      provider: format.provider,
      ...said,
      found: withoutKey(said.found, key),
      status,
      ...(wait === undefined ? {} : { retryAfterSeconds: wait }),
      ...(requestId === undefined ? {} : { requestId: withoutKey(requestId, key) }),
    });
  }
  if (own === undefined && requestId !== undefined)
    yield { type: 'asked', requestId: withoutKey(requestId, key) };
  const reader = format.reader(request);
  const bound = callBound();
  const cleaner = replyCleaner(request);
  let ended = false;
  let frames = 0;
  const pass = function* (events: Iterable<ModelEvent>): Iterable<ModelEvent> {
    for (const event of events) {
      if (event.type === 'call') bound(event.call);
      ended ||= event.type === 'end';
      yield* cleaner.take(event);
    }
  };
  let isDone = false;
  const progress = (): { readonly is: ReplyProgress; readonly frames: number } => ({
    is: isDone ? 'whole' : reader.progress(),
    frames,
  });
  for await (const { type, text, isDocument } of framesOf(wire.framing, answer, progress, signal)) {
    // Frames after the end of a reply are ignored.
    if (progress().is === 'whole') continue;
    frames += 1;
    if (text === '[DONE]') {
      isDone = true;
      continue;
    }
    const frame = isDocument && !/^\s*[{[]/.test(text) ? undefined : readFrame(text);
    if (saysFailure(frame)) throw new SaidFailureError(withText(format.failureOf(undefined, frame), text));
    if (frame !== undefined) yield* pass(reader.take(frame, type));
    // A page or a message in place of a reply is quoted: it is more specific than a missing reply.
    if (isDocument && reader.progress() === 'begun')
      throw brokenReply(`expected a reply, found ${JSON.stringify(text.slice(0, maxQuoted))}`);
  }
  yield* pass(reader.finish(isDone));
  if (!ended) throw brokenReply('the reply has no end');
}

/** Throws if the calls of one message are too many or too large, or if two have the same id. */
function callBound(): (call: ToolCall) => void {
  const ids = new Set<string>();
  let size = 0;
  return (call) => {
    if (ids.has(call.id)) throw brokenReply('two calls with one id');
    ids.add(call.id);
    size += call.arguments.length;
    if (ids.size > maxCalls) throw brokenReply(`more than ${maxCalls} calls in one message`);
    if (size > maxArguments) throw brokenReply(`arguments of more than ${maxArguments} characters`);
  };
}

/** A vendor that repeats the question must not have the key written down, nor the beginning of it where it is cut. */
function withoutKey(found: string, key = ''): string {
  let told = found;
  for (let length = key.length; length >= Math.min(8, Math.max(1, key.length)); length -= 1)
    told = told.replaceAll(key.slice(0, length), '[key]');
  return told;
}

/** The frames of an answer as text, in order; `[DONE]` is one. Stops at the end of the reply (see `untilQuiet`). */
async function* framesOf(
  framing: WireRequest['framing'],
  answer: OpenAnswer,
  progress: () => { readonly is: ReplyProgress; readonly frames: number },
  signal: AbortSignal,
): AsyncGenerator<{ readonly type: string; readonly text: string; readonly isDocument: boolean }> {
  // A vendor may answer a stream request with one document, mostly to report a failure.
  const isDocument = framing === 'whole' || /^application\/json\b/.test(answer.headers['content-type'] ?? '');
  if (framing !== 'lines' && isDocument) {
    yield { type: '', text: await readText(answer, maxFrameBytes), isDocument };
    return;
  }
  const body = untilQuiet(answer.body, progress, signal);
  if (framing === 'lines') {
    for await (const line of readLines(body, maxFrameBytes))
      if (line.trim() !== '') yield { type: '', text: line, isDocument: false };
    return;
  }
  const stray = strayText(maxFailureBytes);
  for await (const { type, data } of readEventStream(stray.tap(body), { maxEventBytes: maxFrameBytes })) {
    stray.event();
    if (data.trim() !== '') yield { type, text: data, isDocument: false };
  }
  const text = progress().is === 'begun' ? stray.text() : '';
  if (text !== '') yield { type: '', text, isDocument: true };
}

/** Quotes the answer if the vendor's failure has no message in its own form. */
function withText(said: SaidFailure, text: string): SaidFailure {
  return said.found === '' ? { ...said, found: text.slice(0, maxQuoted) } : said;
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The body as text, cut at so many octets. */
async function readText({ body }: OpenAnswer, maxBytes: number): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    parts.push(part);
    size += part.length;
    if (size > maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes).toString('utf8');
}

function toFailure(provider: string, fault: unknown, key: string | undefined): unknown {
  if (fault instanceof SaidFailureError) {
    const said = withTooLarge(fault.said);
    return providerFailure({ provider, ...said, found: withoutKey(said.found, key) });
  }
  if (isWritError(fault, 'NETWORK_FAILED'))
    return providerFailure({
      provider,
      kind: fault.detail.reason === 'unreachable' ? 'unreachable' : 'broken-reply',
      found: messageOf(fault),
      cause: fault,
    });
  if (isWritError(fault, 'EVENT_TOO_LARGE') || isWritError(fault, 'INPUT_TOO_LARGE'))
    return providerFailure({ provider, kind: 'broken-reply', found: messageOf(fault), cause: fault });
  return fault;
}
