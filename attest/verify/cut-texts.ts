/** A JSON document without its long base64. */
export interface CutJson {
  /** The document with `"@0"`, `"@1"` and so on in place of what was cut out. */
  readonly skeleton: Buffer;
  /** What was cut out, as it stands in the document. */
  readonly texts: readonly Buffer[];
}

export interface CutLimits {
  /** Members whose values are cut out; none: only the limits are asked about. */
  readonly members: readonly string[];
  /** Most texts, members and items. */
  readonly maxTokens: number;
  /** Most octets that are not cut out. */
  readonly maxSkeletonBytes: number;
}

/** Shorter texts are left where they are. */
const minCut = 64;
const chunk = 1024 * 1024;
const [quote, backslash, equals, colon] = [0x22, 0x5c, 0x3d, 0x3a];
const separators = new Set([0x2c, colon, 0x5b, 0x7b]);
const letters = /^[A-Za-z0-9+/]*$/;
/** Last letters before one `=` and before two, whose spare bits are zero. */
const [lastOfTwo, lastOfOne] = [octetsOf('AEIMQUYcgkosw048'), octetsOf('AQgw')];

function octetsOf(letters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const octet of Buffer.from(letters)) table[octet] = 1;
  return table;
}

/**
 * Looks through JSON octet by octet, before any of it is made into text and values, and takes the long texts of strict
 * standard base64 out that stand under certain names: a hostile document costs no more than its octets, an honest one
 * little more. `undefined` beyond the limits. Whether the rest is JSON is judged by who reads it.
 */
export function cutTexts(
  bytes: Buffer,
  { members, maxTokens, maxSkeletonBytes }: CutLimits,
): CutJson | undefined {
  const pieces: Buffer[] = [];
  const texts: Buffer[] = [];
  let [tokens, cutBytes, from] = [0, 0, 0];
  // The last text, and whether it was followed by a colon: then it names what comes.
  let [name, isNamed] = ['', false];
  for (let at = 0; at < bytes.length; at += 1) {
    if (tokens > maxTokens || at - cutBytes > maxSkeletonBytes) return undefined;
    const octet = bytes[at] ?? 0;
    if (octet !== quote) {
      if (separators.has(octet)) tokens += 1;
      if (separators.has(octet)) isNamed = octet === colon;
      continue;
    }
    const end = endOfText(bytes, at);
    tokens += 1;
    const isCut = isNamed && members.includes(name) && end - at > minCut;
    if (isCut && isStrictBase64(bytes.subarray(at + 1, end))) {
      pieces.push(bytes.subarray(from, at), Buffer.from(`"@${texts.length}"`));
      texts.push(bytes.subarray(at + 1, end));
      cutBytes += end + 1 - at;
      from = end + 1;
    }
    name = end - at > 32 ? '' : bytes.toString('latin1', at + 1, end);
    isNamed = false;
    at = end;
  }
  if (bytes.length - cutBytes > maxSkeletonBytes) return undefined;
  return { skeleton: Buffer.concat([...pieces, bytes.subarray(from)]), texts };
}

/** The closing quote, or the end of the document. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = bytes.indexOf(quote, at + 1);
    if (at < 0) return bytes.length;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
}

function isStrictBase64(text: Buffer): boolean {
  if (text.length % 4 !== 0) return false;
  const padding = text.at(-1) !== equals ? 0 : text.at(-2) !== equals ? 1 : 2;
  const end = text.length - padding;
  // By the runtime, in pieces: a text of the whole length would be held beside the document.
  for (let at = 0; at < end; at += chunk)
    if (!letters.test(text.toString('latin1', at, Math.min(at + chunk, end)))) return false;
  const last = text[end - 1] ?? 0;
  return padding === 0 || (padding === 1 ? lastOfTwo : lastOfOne)[last] === 1;
}

/** What base64 that was cut out stands for, without a text of its length in between. */
export function decodeCut(text: Buffer): Buffer {
  const padding = text.at(-1) !== equals ? 0 : text.at(-2) !== equals ? 1 : 2;
  const bytes = Buffer.alloc((text.length / 4) * 3 - padding);
  let written = 0;
  for (let at = 0; at < text.length; at += chunk)
    written += bytes.write(text.toString('latin1', at, at + chunk), written, 'base64');
  return bytes;
}
