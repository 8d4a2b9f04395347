/** What the first line of a hunk says (git, unified diff): first line and number of lines on either side. */
export interface HunkHeader {
  readonly oldLine: number;
  readonly oldCount: number;
  readonly newLine: number;
  readonly newCount: number;
}

/**
 * Octets of a line in which its header stands: the same for every reader, or one would see a hunk that another does
 * not.
 */
export const maxHunkHeaderBytes = 120;

const comma = 44;
const before = Buffer.from('@@ -');
const between = Buffer.from(' +');
const behind = Buffer.from(' @@');

/**
 * The header at the beginning of the line from `start` to `end`; `undefined` for any other line. A count that is left
 * out is 1.
 */
export function readHunkHeader(bytes: Uint8Array, start: number, end: number): HunkHeader | undefined {
  const most = Math.min(end, start + maxHunkHeaderBytes);
  const old = readSide(bytes, start, most, before);
  const candidate = old && readSide(bytes, old.end, most, between);
  if (!candidate || !stands(bytes, candidate.end, most, behind)) return undefined;
  return { oldLine: old.line, oldCount: old.count, newLine: candidate.line, newCount: candidate.count };
}

interface Side {
  readonly line: number;
  readonly count: number;
  readonly end: number;
}

/** `,` and a count may follow the line. */
function readSide(bytes: Uint8Array, start: number, most: number, mark: Uint8Array): Side | undefined {
  if (!stands(bytes, start, most, mark)) return undefined;
  const from = start + mark.length;
  const end = digitsEnd(bytes, from, most);
  if (end === from) return undefined;
  const line = numberOf(bytes, from, end);
  if (end >= most || bytes[end] !== comma) return { line, count: 1, end };
  const countEnd = digitsEnd(bytes, end + 1, most);
  return countEnd === end + 1
    ? undefined
    : { line, count: numberOf(bytes, end + 1, countEnd), end: countEnd };
}

function stands(bytes: Uint8Array, start: number, most: number, text: Uint8Array): boolean {
  if (start + text.length > most) return false;
  for (let index = 0; index < text.length; index += 1) if (bytes[start + index] !== text[index]) return false;
  return true;
}

function digitsEnd(bytes: Uint8Array, from: number, most: number): number {
  let at = from;
  while (at < most && (bytes[at] as number) >= 48 && (bytes[at] as number) <= 57) at += 1;
  return at;
}

/** Digits as `Number` reads them, also where they are more than a number can hold. */
function numberOf(bytes: Uint8Array, from: number, end: number): number {
  if (end - from > 15) return Number(Buffer.from(bytes.subarray(from, end)).toString('latin1'));
  let value = 0;
  for (let at = from; at < end; at += 1) value = 10 * value + (bytes[at] as number) - 48;
  return value;
}
