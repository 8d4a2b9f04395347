import { findSensitive, type Search } from './find-sensitive.ts';
import type { SensitiveMatch } from './sensitive-match.ts';

const base64Bytes = bytesOf(/[A-Za-z0-9+/=_-]/);
const percentBytes = bytesOf(/[\w.~+/:@%-]/);
const entityRun = /&(?:#\d{2,7}|#[xX][0-9A-Fa-f]{2,6}|[a-z]{2,6});/;
const entity =
  /&(?:#(\d{2,7})|#[xX]([0-9A-Fa-f]{2,6})|(amp|lt|gt|quot|apos|commat|colon|period|num|sol|equals));/g;
const named: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" },
  ...{ commat: '@', colon: ':', period: '.', num: '#', sol: '/', equals: '=' },
};

/**
 * Sensitive data under one layer of base64, percent or character-reference encoding; a match is the whole encoded run. What is encoded
 * twice, in hexadecimal, or split over several runs is not found.
 */
export function findEncoded(bytes: Uint8Array, search: Search): readonly SensitiveMatch[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const found: SensitiveMatch[] = [];
  const judge = (start: number, end: number, decoded: Buffer): void => {
    const [first] = findSensitive(decoded, search);
    if (first) found.push({ rule: first.rule, class: first.class, start, end });
  };
  for (const [start, end] of runsOf(bytes, base64Bytes, 20)) {
    if (isPrintable(Buffer.from(text.slice(start, start + 32), 'base64')))
      judge(start, end, Buffer.from(text.slice(start, end), 'base64'));
  }
  if (text.includes('%')) {
    for (const [start, end] of runsOf(bytes, percentBytes, 4)) {
      const run = text.slice(start, end);
      const decoded = run.replace(/%([0-9A-Fa-f]{2})/g, (_, hex) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
      if (decoded.length < run.length) judge(start, end, Buffer.from(decoded, 'latin1'));
    }
  }
  if (text.includes('&') && entityRun.test(text)) return [...found, ...inReferences(text, search)];
  return found;
}

function bytesOf(characterClass: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) =>
    characterClass.test(String.fromCharCode(code)) ? 1 : 0,
  );
}

/** Runs of bytes of a set, as long as they are: by hand, for an expression's memory ends at a few megabytes. */
function* runsOf(bytes: Uint8Array, among: Uint8Array, least: number): Generator<readonly [number, number]> {
  let start = -1;
  for (let at = 0; at <= bytes.length; at += 1) {
    const isIn = at < bytes.length && among[bytes[at] as number] === 1;
    if (isIn && start < 0) start = at;
    if (isIn || start < 0) continue;
    if (at - start >= least) yield [start, at];
    start = -1;
  }
}

/** Words that hold character references, decoded. */
function inReferences(text: string, search: Search): readonly SensitiveMatch[] {
  const found: SensitiveMatch[] = [];
  for (const { 0: word, index } of text.matchAll(/[^\s"'<>]{1,4096}/g)) {
    if (!entityRun.test(word)) continue;
    const decoded = decodeReferences(word);
    const [first] = findSensitive(Buffer.from(decoded, 'latin1'), search);
    if (first) found.push({ rule: first.rule, class: first.class, start: index, end: index + word.length });
  }
  return found;
}

/** Text with its character references resolved, as far as HTML and XML share them. */
export function decodeReferences(text: string): string {
  return text.replace(entity, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
      ? String.fromCodePoint(code)
      : whole;
  });
}

function isPrintable(bytes: Buffer): boolean {
  if (bytes.length < 12) return false;
  return bytes.every((byte) => (byte >= 32 && byte < 127) || byte === 9 || byte === 10 || byte === 13);
}
