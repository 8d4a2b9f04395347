const esc = 0x1b;
const rubout = 0x7f;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Octets from `at` on that are text, and what they say; invalid ones are U+FFFD, controls beyond ASCII are gone. */
export interface TextRun {
  readonly took: number;
  readonly text: string;
}

/** The run of text at the beginning. A character that has not come whole is left for later: `took` is less then. */
export function readText(bytes: Uint8Array): TextRun {
  let end = 0;
  while (end < bytes.length && isText(bytes[end] ?? 0)) end += 1;
  const took = end < bytes.length ? end : end - cutOff(bytes);
  const text = decoder.decode(bytes.subarray(0, took)).replace(/[\p{Cc}\u2028\u2029]/gu, '');
  return { took, text };
}

/** Octets at the end which begin a character that has not come whole. */
export function cutOff(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const needs = lengthOf(bytes[bytes.length - back] ?? 0);
    if (needs > 0) return needs > back ? back : 0;
  }
  return 0;
}

/** How many octets a character has that begins so; 0 where none does. */
export function lengthOf(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

function isText(octet: number): boolean {
  return octet >= 0x20 && octet !== esc && octet !== rubout;
}
