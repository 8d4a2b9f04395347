/* Reads text under one layer of encoding, and writes values in every encoding. */

const base64Bytes = bytesOf(/[A-Za-z0-9+/_-]/);
const hexBytes = bytesOf(/[0-9A-Fa-f]/);
/**
 * First character of a base64 quad that encodes text: its first byte is printable, a line end, or the zero of UTF-16.
 */
const textQuads = bytesOf(/[ACDI-Za-f]/);
/** The first digit of printable ASCII, and of the ends of lines. */
const textNibbles = bytesOf(/[02-7]/);
const percentBytes = bytesOf(/[\w.~+/:@%-]/);
const wordBytes = bytesOf(/[^\s"'<>]/);
const percent = /%([0-9A-Fa-f]{2})/g;
/** The header of a key in a form field, where a plus is a blank. */
const plusHeader = /-----(?:BEGIN|END)(?:\+[A-Z0-9]{1,12}){1,5}-----/g;
const escaped = /\\{1,2}(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))/g;
/** Shorter runs encode no value that the search looks for. */
const leastRun = 20;
/** Of base64: no token is shorter. */
const leastToken = 28;
/** Text in base64 has many: of paths and names, few. */
const manyCapitals = /(?:[A-Z][^A-Z]*){5}/;
const leastHex = 40;
const hexDigits = /[0-9A-Fa-f]{40,}/g;
/** A line of base64 that goes on in the next one is at least so long (RFC 2045 and 7468 break at 76 and 64). */
const wrappedLine = 60;
const maxWord = 4096;
const entityRun = /&(?:#\d{2,7}|#[xX][0-9A-Fa-f]{2,6}|[a-z]{2,6});/g;
/** What `decodeReferences` resolves. */
export const references =
  /&(?:#(\d{2,7})|#[xX]([0-9A-Fa-f]{2,6})|(amp|lt|gt|quot|apos|commat|colon|period|num|sol|equals));/g;
const named: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
  ...{ commat: '@', colon: ':', period: '.', num: '#', sol: '/', equals: '=' },
};

/** Encoded text from `start` to `end`. */
export interface EncodedRun {
  readonly start: number;
  readonly end: number;
  readonly decoded: Buffer;
}

/** Keeps what is read of two runs apart: no form goes over it. */
const between = Buffer.from('\n\0\n\n');

/** Every run that is decoded, one after the other, and the run that a match in these bytes is in. */
interface DecodedRuns {
  readonly bytes: Buffer;
  /** The runs that a match touches. Matches are asked for in order. */
  runsOf(match: { readonly start: number; readonly end: number }): readonly EncodedRun[];
}

/**
 * The text of bytes under one layer of base64 (wrapped lines too), hexadecimal, percent, character-reference or
 * JavaScript escapes; `undefined` where nothing is encoded. What is encoded twice is not decoded.
 * `anywhere`: also runs of base64 and hexadecimal digits that do not begin as text, at each alignment, as a token may
 * begin anywhere in them.
 */
export function decodedRuns(bytes: Uint8Array, text: string, anywhere: boolean): DecodedRuns | undefined {
  const runs = [
    ...packedRuns(bytes, text, anywhere),
    ...(text.includes('%') ? words(bytes, text, percent, percentBytes, decodePercent) : []),
    ...(text.includes('&') ? words(bytes, text, entityRun, wordBytes, decodeReferences) : []),
    ...(text.includes('\\') ? words(bytes, text, escaped, wordBytes, decodeEscapes) : []),
  ];
  if (runs.length === 0) return undefined;
  // All at once: a search has its price, and there may be a million runs.
  const offsets: number[] = [];
  const parts: Buffer[] = [];
  let length = 0;
  for (const { decoded } of runs) {
    offsets.push(length);
    parts.push(decoded, between);
    length += decoded.length + between.length;
  }
  let index = 0;
  return {
    bytes: Buffer.concat(parts),
    runsOf({ start, end }) {
      while ((offsets[index + 1] ?? Number.POSITIVE_INFINITY) <= start) index += 1;
      const touched: EncodedRun[] = [];
      for (let at = index; (offsets[at] ?? Number.POSITIVE_INFINITY) < end; at += 1)
        touched.push(runs[at] as EncodedRun);
      return touched;
    },
  };
}

function bytesOf(characterClass: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) =>
    characterClass.test(String.fromCharCode(code)) ? 1 : 0,
  );
}

/**
 * Returns runs of base64, and of hexadecimal digits among them, that encode ASCII text, or UTF-16 as PowerShell
 * expects it.
 */
function packedRuns(bytes: Uint8Array, text: string, anywhere: boolean): readonly EncodedRun[] {
  const runs: EncodedRun[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    if (base64Bytes[bytes[at] as number] === 0) continue;
    const start = at;
    do at += 1;
    while (at < bytes.length && base64Bytes[bytes[at] as number] === 1);
    if (at - start < leastRun) continue;
    for (let line = start, next = nextLine(bytes, line, at); next > at; next = nextLine(bytes, line, at)) {
      line = next;
      at = next;
      while (at < bytes.length && base64Bytes[bytes[at] as number] === 1) at += 1;
    }
    if (are(textNibbles, bytes, start, 2)) {
      const hex = hexEnd(bytes, start, at);
      const decoded = hex - start < leastRun ? undefined : Buffer.from(text.slice(start, hex), 'hex');
      if (decoded && isPrintable(decoded.subarray(0, 24))) runs.push({ start, end: hex, decoded });
    }
    if (anywhere && at - start >= leastToken) runs.push(...shiftedRuns(text, start, at));
    if (!are(textQuads, bytes, start, 4)) continue;
    const begin = Buffer.from(text.slice(start, start + 32), 'base64');
    const isWide = begin.length >= 12 && begin.every((byte, index) => index % 2 === 0 || byte === 0);
    if (!isWide && !isPrintable(begin)) continue;
    const decoded = Buffer.from(text.slice(start, at), 'base64');
    if (bytes[at] === 61) at += bytes[at + 1] === 61 ? 2 : 1;
    runs.push({ start, end: at, decoded: isWide ? Buffer.from(decoded.toString('utf16le')) : decoded });
  }
  return runs;
}

/** A run from each of its first characters on, and the hexadecimal digits in it from each of their first two. */
function* shiftedRuns(text: string, start: number, end: number): Generator<EncodedRun> {
  const written = text.slice(start, end);
  for (const from of manyCapitals.test(written) ? [1, 2, 3] : [])
    yield { start, end, decoded: Buffer.from(written.slice(from), 'base64') };
  for (const { 0: digits, index } of end - start < leastHex ? [] : written.matchAll(hexDigits))
    for (const from of [0, 1])
      yield {
        start: start + index,
        end: start + index + digits.length,
        decoded: Buffer.from(digits.slice(from), 'hex'),
      };
}

/** Where a run that ends a long line at `end` goes on; `end` where it does not. */
function nextLine(bytes: Uint8Array, line: number, end: number): number {
  if (end - line < wrappedLine) return end;
  const next = bytes[end] === 13 && bytes[end + 1] === 10 ? end + 2 : bytes[end] === 10 ? end + 1 : end;
  return base64Bytes[bytes[next] as number] === 1 ? next : end;
}

function hexEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && hexBytes[bytes[at] as number] === 1) at += 1;
  return at;
}

/** Whether each of the first places, every `step`, is of a set. */
function are(set: Uint8Array, bytes: Uint8Array, start: number, step: number): boolean {
  for (let at = start; at < start + leastRun; at += step) if (set[bytes[at] as number] !== 1) return false;
  return true;
}

/** Words in which something is escaped, each once. */
function* words(
  bytes: Uint8Array,
  text: string,
  mark: RegExp,
  among: Uint8Array,
  decode: (word: string) => string,
): Generator<EncodedRun> {
  mark.lastIndex = 0;
  let least = 0;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    let start = found.index;
    while (start > least && found.index - start < maxWord && among[bytes[start - 1] as number] === 1)
      start -= 1;
    let end = mark.lastIndex;
    while (end < bytes.length && end - start < 2 * maxWord && among[bytes[end] as number] === 1) end += 1;
    const word = text.slice(start, end);
    const decoded = decode(word);
    if (decoded !== word) yield { start, end, decoded: Buffer.from(decoded, 'latin1') };
    least = end;
    mark.lastIndex = end;
  }
}

function decodePercent(word: string): string {
  return word
    .replace(percent, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(plusHeader, (header) => header.replaceAll('+', ' '));
}

function decodeEscapes(word: string): string {
  return word.replace(escaped, (_, wide, narrow) => String.fromCharCode(Number.parseInt(wide ?? narrow, 16)));
}

/** Text with its character references resolved, as far as HTML and XML share them. */
export function decodeReferences(text: string): string {
  return text.replace(references, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      ? String.fromCodePoint(code)
      : whole;
  });
}

function isPrintable(bytes: Buffer): boolean {
  if (bytes.length < 10) return false;
  return bytes.every((byte) => (byte >= 32 && byte < 127) || byte === 9 || byte === 10 || byte === 13);
}

/**
 * How a value's octets are written where they are not written plainly, in ASCII: in hexadecimal, as a URL writes them,
 * in base64 and base64url at each of the three alignments, without the characters at its ends that others share.
 */
export function codedForms(value: Buffer): readonly string[] {
  const inUrl = encodeURIComponent(value.toString('utf8').toWellFormed());
  const hex = value.toString('hex');
  return [
    inUrl,
    inUrl.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inUrl.replaceAll('%20', '+'),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((before) => inBase64(value, before)),
  ];
}

function inBase64(value: Buffer, before: number): readonly string[] {
  const shifted = Buffer.concat([Buffer.alloc(before), value]);
  const from = Math.ceil((before * 8) / 6);
  const to = Math.floor((shifted.length * 8) / 6);
  return (['base64', 'base64url'] as const).map((form) => shifted.toString(form).slice(from, to));
}
