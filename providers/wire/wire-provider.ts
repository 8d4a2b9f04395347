/* A provider over HTTP, built from a wire format. */
import { isWritError, messageOf } from '../../core/base/errors.ts';
import { readEventStream } from '../../core/base/event-stream.ts';
import type { OpenAnswer } from '../../core/base/http-question.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { ModelEvent, ModelRequest, ToolCall } from '../../core/interfaces/model.ts';
import { type Provider, type ProviderSetting, providerFailure } from '../../core/interfaces/provider.ts';
import { digestExchanges } from '../../readers/sensitive/model-work.ts';
import { costUnits, knownModel, takesImages } from '../model-table.ts';
import { retryAfterSeconds, saysFailure, withTooLarge, wrongAddress } from './failures.ts';
import { jsonIn, readFrame, readLines, untilQuiet } from './read-frame.ts';
import {
  brokenReply,
  cleanToolName,
  isToolName,
  type Json,
  listIn,
  maxCalls,
  objectIn,
  type ReplyProgress,
  requestIdOf,
  type SaidFailure,
  SaidFailureError,
  sendableRequest,
  textIn,
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
    takesImages,
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

/** Characters of a reply that are searched for a call written as text. */
const maxSearched = 1024 * 1024;

/**
 * Repairs server faults in a reply of any dialect: `<think>` tags in the text, decorated tool names, and calls
 * written as text, which it reports. Expects the events of one reply in order.
 */
function replyCleaner({ tools }: Pick<ModelRequest, 'tools'>): {
  take(event: ModelEvent): Iterable<ModelEvent>;
} {
  const declared = new Set(tools.map(({ name }) => name));
  const thoughts = splitThoughts();
  const texts: string[] = [];
  let searched = 0;
  let calls = 0;
  let changesNames = false;
  const keep = function* (events: Iterable<ModelEvent>): Iterable<ModelEvent> {
    for (const event of events) {
      if (event.type === 'reasoned') texts.length = 0;
      if (event.type === 'text' && searched < maxSearched) {
        texts.push(event.text);
        searched += event.text.length;
      }
      yield event;
    }
  };
  return {
    *take(event) {
      if (event.type === 'text') {
        yield* keep(thoughts.take(event.text));
      } else if (event.type === 'calling') {
        const name = cleanToolName(event.name, declared);
        // A name that comes in pieces is announced when it is complete.
        if (declared.size === 0 ? name !== '' : declared.has(name)) yield { type: 'calling', name };
      } else if (event.type === 'call') {
        yield* keep(thoughts.flush());
        calls += 1;
        const name = cleanToolName(event.call.name, declared);
        changesNames ||= name !== event.call.name || !isToolName(name);
        yield { type: 'call', call: { ...event.call, name } };
      } else if (event.type === 'end') {
        yield* keep(thoughts.flush());
        const written = calls === 0 ? writtenCall(texts.join(''), declared) : undefined;
        if (written !== undefined)
          yield {
            type: 'notice',
            text: `the model wrote a call of \`${written}\` as text, and the server did not parse it: nothing was called. Start the server with a parser for the model's tool calls, or choose another model`,
          };
        // Parts that go back as they came would bring the vendor's refusal of the name.
        const { state, ...end } = event;
        const isLost = changesNames && typeof state === 'object';
        yield state === undefined || isLost ? end : event;
      } else {
        yield event;
      }
    },
  };
}

const opening = ['<think>', '<thinking>'];
/** Blanks before a tag; more are a text of their own. */
const maxBlanks = 64;
const closings = ['</think>', '</thinking>'];
/** A closing tag that ends its line, or may still do so. */
const closingLine = /^<\/think(?:ing)?>[ \t]{0,64}(\r?\n|\r?$)/;
/** Text that shows that a later closing tag is part of an answer. */
const aboutTags = /<think|```/;

/**
 * Splits `<think>…</think>` at the beginning of a text from it, however the text is cut. If a closing tag without an
 * opening one has a line for itself, the text before it was reasoning: some templates put the opening tag into the
 * prompt. Other tags are part of the text: an answer may be about them.
 */
function splitThoughts(): { take(text: string): Iterable<ModelEvent>; flush(): Iterable<ModelEvent> } {
  let held = '';
  let closing: string | undefined;
  let isText = false;
  /** Whether reasoning came before: the blanks behind it belong to its tag. */
  let isAfter = false;
  /** The last characters of the text so far, while a closing tag may still come. */
  let before: string | undefined = '\n';

  function* takeStart(): Iterable<ModelEvent> {
    const begun = held.trimStart();
    const blanks = held.length - begun.length;
    const tag = opening.find((one) => begun.startsWith(one));
    if (tag !== undefined) {
      closing = `</${tag.slice(1)}`;
      held = begun.slice(tag.length);
      yield* takeThought();
    } else if (blanks > maxBlanks || !opening.some((one) => one.startsWith(begun))) {
      isText = true;
      if (isAfter) {
        before = undefined;
        held = begun;
      }
      yield* takeText();
    }
  }

  function* sayText(length: number): Iterable<ModelEvent> {
    const text = held.slice(0, length);
    held = held.slice(length);
    if (before !== undefined) before += text;
    if (before !== undefined) before = aboutTags.test(before) ? undefined : before.slice(-6);
    yield* said('text', text);
  }

  function* takeText(): Iterable<ModelEvent> {
    while (before !== undefined) {
      const at = held.search(/<\/think(?:ing)?>/);
      if (at === -1) {
        const kept = Math.max(...closings.map((tag) => partAtEnd(held, tag)));
        yield* sayText(held.length - kept);
        return;
      }
      yield* sayText(at);
      const [line, end] = (before?.endsWith('\n') && closingLine.exec(held)) || [];
      if (line === undefined) {
        yield* sayText(2);
      } else {
        if (!end?.endsWith('\n')) return;
        yield { type: 'reasoned' };
        held = held.slice(line.length);
        isText = false;
        isAfter = true;
        yield* takeStart();
        return;
      }
    }
    yield* sayText(held.length);
  }

  function* takeThought(): Iterable<ModelEvent> {
    const end = held.indexOf(closing as string);
    if (end === -1) {
      const kept = partAtEnd(held, closing as string);
      yield* said('reasoning', held.slice(0, held.length - kept));
      held = held.slice(held.length - kept);
      return;
    }
    yield* said('reasoning', held.slice(0, end));
    held = held.slice(end + (closing as string).length);
    closing = undefined;
    isAfter = true;
    yield* takeStart();
  }

  return {
    *take(text) {
      held += text;
      if (isText) yield* takeText();
      else yield* closing === undefined ? takeStart() : takeThought();
    },
    *flush() {
      if (isText && before?.endsWith('\n') && closingLine.test(held)) {
        yield { type: 'reasoned' };
        held = '';
        return;
      }
      yield* said(
        closing === undefined ? 'text' : 'reasoning',
        isAfter && !closing ? held.trimStart() : held,
      );
      held = '';
    },
  };
}

/** How many characters at the end of `text` may begin `tag`. */
function partAtEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(tag.slice(0, length))) return length;
  return 0;
}

function* said(type: 'text' | 'reasoning', text: string): Iterable<ModelEvent> {
  if (text !== '') yield { type, text };
}

/** Texts that models put before a call that their server should have parsed. */
const markers = [
  '<tool_call>',
  '<function_call>',
  '<function=',
  '<invoke name=',
  '<|tool_call',
  '<|python_tag|>',
  '<｜tool▁call',
  '[TOOL_CALLS]',
  '<|channel|>commentary to=',
  '<tools>{',
  '<tools>[',
  '<tools>\n{',
  '<tools>\n[',
];
/** Characters behind a marker that are searched for the name of the tool. */
const nameWithin = 200;
const maxMarkers = 64;
const maxFences = 64;
/** Calls of one list that are searched for a tool. */
const maxListed = 16;
/** The members of a call written as JSON that hold the tool's name, and those that hold its arguments. */
const nameMembers = ['name', 'function', 'tool', 'tool_name', 'action'];
const argumentMembers = ['arguments', 'parameters', 'args', 'input', 'tool_input', 'action_input'];

/** The declared tool that a text calls in words; `undefined` where it calls none. */
function writtenCall(text: string, declared: ReadonlySet<string>): string | undefined {
  const whole = text.trim();
  if (declared.size === 0 || whole === '') return undefined;
  for (const marker of markers)
    for (let at = whole.indexOf(marker), seen = 0; at !== -1 && seen < maxMarkers; seen += 1) {
      const near = whole.slice(at + marker.length, at + marker.length + nameWithin);
      const found = near.match(/[a-zA-Z0-9_-]+/g)?.find((word) => declared.has(word));
      if (found !== undefined) return found;
      at = whole.indexOf(marker, at + marker.length);
    }
  for (const part of [whole, ...fencedIn(whole)]) {
    const found = calledByPart(part, declared);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The contents of the fenced blocks of a text, without the line that names their language. */
function fencedIn(text: string): readonly string[] {
  return text
    .split('```', 2 * maxFences)
    .filter((_, place) => place % 2 === 1)
    .map((block) => block.slice(block.indexOf('\n') + 1).trim());
}

/** Returns the tool of a text that consists only of a call: JSON, or `[read_file(path="x")]`. */
function calledByPart(part: string, declared: ReadonlySet<string>): string | undefined {
  const [, called = ''] = part.endsWith(')]') ? (/^\[\s*([a-zA-Z0-9_-]{1,64})\(/.exec(part) ?? []) : [];
  if (declared.has(called)) return called;
  if (!part.startsWith('{') && !part.startsWith('[')) return undefined;
  return calledByJson(jsonIn(part), declared);
}

function calledByJson(value: unknown, declared: ReadonlySet<string>): string | undefined {
  const object = objectIn(value);
  const listed = listIn(object?.tool_calls ?? value).slice(0, maxListed);
  return [object, ...listed]
    .flatMap((one) => [objectIn(one), objectIn(objectIn(one)?.function)])
    .map((one) => one && calledBy(one, declared))
    .find((name) => name !== undefined);
}

/** An object without arguments shows a tool, and calls none. Arguments may be an object, or its JSON as text. */
function calledBy(object: Json, declared: ReadonlySet<string>): string | undefined {
  const name = nameMembers.map((member) => textIn(object[member])).find((one) => declared.has(one));
  const hasArguments = argumentMembers
    .map((member) => object[member])
    .some((given) => objectIn(typeof given === 'string' ? jsonIn(given) : given) !== undefined);
  return hasArguments ? name : undefined;
}

const fields = ['data', 'event', 'id', 'retry'];

/**
 * Keeps what comes in the place of events: a page, or JSON that a server labels as a stream. `event` is called for each
 * event that is read.
 */
function strayText(maxBytes: number): {
  tap(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array>;
  event(): void;
  /** The lines since the last event that belong to no event. */
  text(): string;
} {
  let kept: Buffer[] = [];
  let size = 0;
  const keep = (piece: Buffer): void => {
    if (size < maxBytes) kept.push(piece.subarray(0, maxBytes - size));
    size += piece.length;
  };
  let last = Buffer.alloc(0);
  let isCut = false;
  return {
    async *tap(body) {
      for await (const piece of body) {
        last = Buffer.from(piece);
        isCut = false;
        keep(last);
        yield piece;
      }
    },
    event() {
      // Of all events in one piece, the last one counts.
      if (isCut) return;
      isCut = true;
      const ends = ['\n\n', '\r\n\r\n', '\r\r'].map((end) => [last.lastIndexOf(end), end.length] as const);
      const [at, length] = ends.reduce((one, other) => (other[0] > one[0] ? other : one));
      kept = [];
      size = 0;
      keep(at === -1 ? last : last.subarray(at + length));
    },
    text: () =>
      Buffer.concat(kept)
        .toString('utf8')
        .split(/\r\n|\n|\r/)
        .filter((line) => !line.startsWith(':') && !isOfEvent(line))
        .join('\n')
        .trim(),
  };
}

/** The last line may be cut within the name of its field. */
function isOfEvent(line: string): boolean {
  return fields.some((field) => line.startsWith(`${field}:`) || field.startsWith(line));
}
