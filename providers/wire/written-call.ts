import { jsonIn } from './call-arguments.ts';
import { objectIn, textIn } from './json-parts.ts';

/** Texts that models put before a call that their server should have parsed. */
const markers = [
  '<tool_call>',
  '<function_call>',
  '<function=',
  '<|tool_call',
  '<｜tool▁call',
  '[TOOL_CALLS]',
  '<|channel|>commentary to=',
];
/** Characters behind a marker that are searched for the name of the tool. */
const nameWithin = 200;
const maxMarkers = 64;

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
  if (!whole.startsWith('{')) return undefined;
  const call = objectIn(jsonIn(whole));
  const name = textIn(call?.name);
  const isCall = objectIn(call?.arguments) ?? objectIn(call?.parameters);
  return isCall !== undefined && declared.has(name) ? name : undefined;
}
