/* Repairs known faults of servers in a model's reply. */
import type { ModelEvent, ModelRequest } from '../../core/interfaces/model.ts';
import { jsonIn } from './read-frame.ts';
import { cleanToolName, isToolName, type Json, listIn, objectIn, textIn } from './wire-format.ts';

/** Characters of a reply that are searched for a call written as text. */
const maxSearched = 1024 * 1024;

/**
 * Repairs server faults in a reply of any dialect: `<think>` tags in the text, decorated tool names, and calls
 * written as text, which it reports. Expects the events of one reply in order.
 */
export function replyCleaner({ tools }: Pick<ModelRequest, 'tools'>): {
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
export function strayText(maxBytes: number): {
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
