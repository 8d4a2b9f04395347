import { jsonIn } from './call-arguments.ts';
import { type Json, listIn, objectIn, textIn } from './json-parts.ts';

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
export function writtenCall(text: string, declared: ReadonlySet<string>): string | undefined {
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

/** The tool of a text that is a call and nothing else: JSON, or `[read_file(path="x")]`. */
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
