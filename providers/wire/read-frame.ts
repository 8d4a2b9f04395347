import { brokenReply } from './wire-format.ts';

/** Nested objects and arrays: deeper ones could not be read again from what a run writes down. */
const maxDepth = 48;
/** Values of one frame: each costs far more memory than the two or three octets that it came in. */
const maxValues = 200_000;

/** A vendor's JSON, bounded before it is parsed. Throws `brokenReply`. */
export function readFrame(text: string): unknown {
  const fault = faultOf(text);
  if (fault !== undefined) throw brokenReply(fault);
  try {
    return JSON.parse(text);
  } catch {
    throw brokenReply(`expected JSON, found ${JSON.stringify(text.slice(0, 80))}`);
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/** What makes a text too much to parse; linear, and right for every text that is JSON. */
function faultOf(text: string): string | undefined {
  if (text.length <= maxDepth) return undefined;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === comma) {
      values += 1;
    } else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) return `expected JSON of at most ${maxDepth} levels, found a deeper one`;
    } else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
    }
    if (values > maxValues) return `expected JSON of at most ${maxValues} values, found more`;
  }
  return undefined;
}

/** Where the string that begins at `start` ends: at its quote, or with the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; ) {
    const end = text.indexOf('"', at);
    if (end === -1) return text.length;
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
    at = end + 1;
  }
}
