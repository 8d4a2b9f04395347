import { assignedAnchors } from './assigned-secret.ts';
import { headsOf, secretPatterns } from './secret-patterns.ts';

type Look = (bytes: Uint8Array, at: number, end: number) => boolean;

const looks = new Map<number, Look>();
for (const anchor of assignedAnchors) looks.set(keyOf(anchor), mayAssign);
for (const { rule, anchors, lead, next = '[A-Za-z0-9_-]' } of secretPatterns) {
  for (const anchor of anchors) {
    if (rule === 'zhipu-key') looks.set(keyOf(anchor), mayBeHexBefore);
    if (anchor.length >= 4) continue;
    if (anchor === '://' && lead !== undefined)
      for (const head of headsOf(lead)) looks.set(keyOf(head + anchor), mayHoldPassword);
    else if (lead === undefined)
      for (const tail of headsOf(next.repeat(4 - anchor.length))) looks.set(keyOf(anchor + tail), mayGoOn);
  }
}

/** A look at a few bytes where one of `secretAnchors` stands, before text is made of them: false where no secret begins for certain. */
export function mayBeginSecret(bytes: Uint8Array, at: number, end: number): boolean {
  const key =
    (bytes[at] as number) |
    ((bytes[at + 1] as number) << 8) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 24);
  return looks.get(key)?.(bytes, at, end) ?? true;
}

function keyOf(anchor: string): number {
  return Buffer.from(anchor, 'latin1').readInt32LE();
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
  return (
    from < end && (sign === 61 || sign === 58 || sign === 62 || sign === 40 || sign === 44 || sign === 63)
  );
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
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
  );
}
