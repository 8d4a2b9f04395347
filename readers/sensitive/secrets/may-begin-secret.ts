import { assignedNames, assignedTails } from './assigned-secret.ts';
import type { Look } from './attempts.ts';
import { rowOf, type SecretRow } from './secret-rows.ts';

type QuickLook = (bytes: Uint8Array, at: number, end: number) => boolean;

const looks: Readonly<Record<Exclude<Look, '-'>, QuickLook>> = {
  n: (bytes, at, end) => endsAnyName(bytes, at + 4, restsOf(bytes, at)) && mayAssign(bytes, at, end),
  v: mayAssign,
  p: mayHoldPassword,
  x: mayBeHexBefore,
  d: mayBeDotted,
  t: mayGoOn,
};
const tails = assignedTails.map((tail) => Buffer.from(tail, 'latin1'));
/** By the first four bytes of a name: how the names that begin with them go on. */
const rests = new Map<number, readonly Uint8Array[]>();

/** What no value without quotes holds, and what may stand behind one. */
const bareEnds = bytesOf('\t\n\v\f\r \xa0"\'`,;<>(){}[]&|#\\');
const lineMarks = bytesOf('\t\r ()>|-+\\:=0123456789');
const valueEnds = bytesOf('\t\n\v\f\r \xa0,;<&"\'`\\)}]');

/**
 * A look at a few bytes where one of `secretAnchors` stands, before text is made of them: false where no secret begins
 * for certain.
 */
export function mayBeginSecret(bytes: Uint8Array, at: number, end: number): boolean {
  const row = rowOf(headAt(bytes, at));
  if (row === undefined || row.look === '-' || looks[row.look](bytes, at, end)) return true;
  return hasLongerAt(row, bytes, at);
}

/** A longer anchor is here that begins as the one that was looked at: `authorization`, `api_org_`. */
function hasLongerAt({ longAnchors }: SecretRow, bytes: Uint8Array, at: number): boolean {
  for (const anchor of longAnchors) if (stands(bytes, at, anchor)) return true;
  return false;
}

function restsOf(bytes: Uint8Array, at: number): readonly Uint8Array[] {
  const head = headAt(bytes, at);
  const known = rests.get(head);
  if (known !== undefined) return known;
  const first = Buffer.from(bytes.subarray(at, at + 4))
    .toString('latin1')
    .toLowerCase();
  const found = assignedNames
    .filter((name) => name.startsWith(first))
    .map((name) => Buffer.from(name.slice(first.length), 'latin1'));
  rests.set(head, found);
  return found;
}

function headAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24)
  );
}

function bytesOf(characters: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(characters, 'latin1')) set[byte] = 1;
  return set;
}

// Loops from here on: they are asked a million times, and what is made for each time is garbage.
function endsAnyName(bytes: Uint8Array, at: number, rests: readonly Uint8Array[]): boolean {
  for (const rest of rests) if (endsName(bytes, at, rest)) return true;
  return false;
}

/** The rest of a name stands there, and behind it no letter but those that a name may end with. */
function endsName(bytes: Uint8Array, at: number, rest: Uint8Array): boolean {
  if (!standsInAnyCase(bytes, at, rest)) return false;
  let next = at + rest.length;
  const code = bytes[next] as number;
  if (code === 95 || code === 45) next += 1;
  else if (!isLetter(code)) return true;
  const first = bytes[next] as number;
  const digit = (first | 32) === 118 ? (bytes[next + 1] as number) : first;
  if (digit >= 48 && digit <= 57) return true;
  for (const tail of tails) if (standsInAnyCase(bytes, next, tail)) return true;
  return false;
}

function stands(bytes: Uint8Array, at: number, anchor: string): boolean {
  for (let index = 4; index < anchor.length; index += 1)
    if (bytes[at + index] !== anchor.charCodeAt(index)) return false;
  return true;
}

function standsInAnyCase(bytes: Uint8Array, at: number, lower: Uint8Array): boolean {
  for (let index = 0; index < lower.length; index += 1) {
    const code = bytes[at + index] as number;
    if ((isLetter(code) ? code | 32 : code) !== lower[index]) return false;
  }
  return true;
}

/** A name goes on, then soon a sign gives it a value. */
function mayAssign(bytes: Uint8Array, at: number, end: number): boolean {
  const most = Math.min(end, at + 48);
  let from = at + 3;
  for (; from < most; from += 1) {
    const code = bytes[from] as number;
    if (
      !isWord(code) &&
      !(code === 45 || code === 34 || code === 39 || code === 96 || code === 93 || code === 92)
    )
      break;
  }
  while (from < most && (bytes[from] === 32 || bytes[from] === 9)) from += 1;
  const sign = bytes[from];
  // A line that ends, or `value`: what stands next may be the value. An option's value stands behind a blank.
  if (sign === 10 || sign === 13 || sign === 118 || sign === 86 || bytes[at - 1] === 45) return from < end;
  if (sign === 61 || sign === 58 || sign === 62 || sign === 40 || sign === 44 || sign === 63)
    return from < end && (mayHoldValue(bytes, from, end) || saysValue(bytes, from, end));
  // `;`, a quote or its backslash, `+` at the start of an added line: `value` may follow.
  return (sign === 59 || sign === 92 || sign === 43 || isQuote(sign ?? 0)) && saysValue(bytes, from, end);
}

/**
 * A quote stands on the rest of the line, or a type and then `=`, or what stands next is long enough to be a value
 * without quotes, and ends where one can end.
 */
function mayHoldValue(bytes: Uint8Array, sign: number, end: number): boolean {
  let from = sign + 1;
  // Signs may be of the value.
  let signs = 0;
  for (; from < end && isBetween(bytes[from] as number); from += 1)
    if (bytes[from] === 61 || bytes[from] === 58) signs += 1;
  let to = from;
  while (to < end && to - from < 256 && bareEnds[bytes[to] as number] === 0) to += 1;
  const length = signs + to - from;
  if (length >= 8 && (length >= 256 || to === end || valueEnds[bytes[to] as number] === 1)) return true;
  for (let at = sign + 1; at < end && bytes[at] !== 10; at += 1)
    if (isQuote(bytes[at] as number) || (bytes[at] === 61 && bytes[sign] === 58)) return true;
  return endsLine(bytes, sign + 1, end);
}

/** Nothing but an opening bracket, the mark of a YAML block, a backslash or a comment is on the rest of the line. */
function endsLine(bytes: Uint8Array, start: number, end: number): boolean {
  let from = start;
  while (from < end && lineMarks[bytes[from] as number] === 1) from += 1;
  return from < end && (bytes[from] === 10 || bytes[from] === 35 || bytes[from] === 47);
}

/** The word `value` stands near: the name is a value of its own, and its value stands behind that word. */
function saysValue(bytes: Uint8Array, from: number, end: number): boolean {
  const most = Math.min(end - 4, from + 128);
  for (let at = from; at < most; at += 1)
    if (((bytes[at] as number) | 32) === 118 && ((bytes[at + 1] as number) | 32) === 97) return true;
  return false;
}

/** Blanks and signs that stand between a name and its value. */
function isBetween(code: number): boolean {
  return code === 32 || code === 9 || code === 61 || code === 58 || code === 62;
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96;
}

/** The host and what it is asked for hold no colon before a slash, a quote or white space. */
function mayHoldPassword(bytes: Uint8Array, at: number, end: number): boolean {
  const most = Math.min(end, at + 4 + 129);
  for (let from = at + 4; from < most; from += 1) {
    const code = bytes[from] as number;
    if (code === 58) return true;
    // A token alone before the host.
    if (code === 64) return from - at >= 20;
    // Slash, quotes, `<`, `>`, white space.
    if (code === 47 || code === 34 || code === 39 || code === 96 || code === 60 || code === 62 || code <= 32)
      return false;
  }
  return false;
}

/** A key of hexadecimal digits ends here. */
function mayBeHexBefore(bytes: Uint8Array, at: number): boolean {
  if (at < 29) return false;
  for (let from = at - 1; from > at - 12; from -= 1) {
    const code = bytes[from] as number;
    if (!((code >= 48 && code <= 57) || (code >= 97 && code <= 102))) return false;
  }
  return true;
}

/** Behind its prefix and 14 characters stands a dot. */
function mayBeDotted(bytes: Uint8Array, at: number, end: number): boolean {
  return at + 17 < end && bytes[at + 17] === 46 && mayGoOn(bytes, at, end);
}

/** Every token with a prefix that short has more than ten characters behind it. */
function mayGoOn(bytes: Uint8Array, at: number, end: number): boolean {
  if (at + 13 > end) return false;
  for (let from = at + 3; from < at + 13; from += 1) {
    const code = bytes[from] as number;
    if (!isWord(code) && code !== 45) return false;
  }
  return true;
}

function isWord(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 95;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}
