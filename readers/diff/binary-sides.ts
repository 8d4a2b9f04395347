/* Reads the content of binary files in a diff. */
import { deflateSync } from 'node:zlib';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { inflate, isFault } from '../documents/archive/inflate.ts';

/** Content of a file that git treats as binary, as far as a diff's `GIT binary patch` contains it. */
export interface BinarySides {
  readonly base?: Buffer;
  readonly candidate?: Buffer;
  /** Set if the patch contains neither side in full: the bytes that the candidate inserts. */
  readonly inserted?: Buffer;
}

const maxBytes = 8 * 1024 * 1024;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~';
const digitValues = new Int16Array(256).fill(-1);
for (const [value, digit] of [...digits].entries()) digitValues[digit.charCodeAt(0)] = value;
const lengths = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bytesPerLine = 52;
const heading = Buffer.from('\nGIT binary patch\n');

/**
 * Reads both directions of a binary patch; `undefined` where there is none, or it is malformed, or a side has more than
 * 8 MiB.
 */
export function binarySides(
  diff: Uint8Array,
  { start, end, changeType }: Pick<PatchFile, 'start' | 'end' | 'changeType'>,
): BinarySides | undefined {
  const section = Buffer.from(diff.buffer, diff.byteOffset + start, end - start);
  const at = section.indexOf(heading);
  if (at < 0) return undefined;
  const forward = readHalf(section, at + heading.length);
  const reverse = forward && readHalf(section, forward.next);
  if (forward === undefined) return undefined;
  if (forward.kind === 'literal') {
    const candidate = forward.bytes;
    if (changeType === 'add') return { candidate };
    const base =
      reverse && (reverse.kind === 'literal' ? reverse.bytes : applyDelta(candidate, reverse.bytes));
    return base === undefined ? { candidate } : { base, candidate };
  }
  const base = reverse?.kind === 'literal' ? reverse.bytes : undefined;
  const candidate = base && applyDelta(base, forward.bytes);
  if (base && candidate) return { base, candidate };
  const inserted = applyDelta(undefined, forward.bytes);
  return inserted && { inserted };
}

/** A binary patch from base to candidate, both sides whole; git writes deltas too where they are shorter. */
export function toBinaryPatch(candidate: Uint8Array, base: Uint8Array = new Uint8Array()): Buffer {
  return Buffer.from(`GIT binary patch\n${toLiteral(candidate)}\n${toLiteral(base)}\n`);
}

function toLiteral(bytes: Uint8Array): string {
  const packed = deflateSync(bytes, { level: 1 });
  const lines = [`literal ${bytes.length}\n`];
  for (let at = 0; at < packed.length; at += bytesPerLine) {
    const part = packed.subarray(at, at + bytesPerLine);
    lines.push(`${lengths.charAt(part.length - 1)}${toBase85(part)}\n`);
  }
  return lines.join('');
}

interface Half {
  readonly kind: 'literal' | 'delta';
  readonly bytes: Buffer;
  /** Where the other direction begins. */
  readonly next: number;
}

function readHalf(section: Buffer, from: number): Half | undefined {
  const head = /^(literal|delta) (\d{1,10})\n/.exec(section.toString('latin1', from, from + 32));
  const size = Number(head?.[2]);
  if (!head || size > maxBytes) return undefined;
  const parts: Buffer[] = [];
  let at = from + head[0].length;
  for (; at < section.length && section[at] !== 10; ) {
    const feed = section.indexOf(10, at);
    const part = fromBase85(section.subarray(at, feed < 0 ? section.length : feed));
    if (part === undefined || feed < 0) return undefined;
    parts.push(part);
    at = feed + 1;
  }
  const bytes = inflate(Buffer.concat(parts), 'zlib', size);
  if (isFault(bytes) || bytes.length !== size) return undefined;
  return { kind: head[1] as Half['kind'], bytes, next: at + 1 };
}

function fromBase85(line: Buffer): Buffer | undefined {
  const length = lengths.indexOf(String.fromCharCode(line[0] ?? 0)) + 1;
  if (length === 0 || line.length - 1 !== Math.ceil(length / 4) * 5) return undefined;
  const bytes = Buffer.alloc(Math.ceil(length / 4) * 4);
  for (let group = 0; group * 5 + 1 < line.length; group += 1) {
    let value = 0;
    for (let place = 0; place < 5; place += 1) {
      const digit = digitValues[line[1 + group * 5 + place] as number] as number;
      if (digit < 0) return undefined;
      value = value * 85 + digit;
    }
    if (value > 0xffffffff) return undefined;
    bytes.writeUInt32BE(value, group * 4);
  }
  return bytes.subarray(0, length);
}

function toBase85(bytes: Uint8Array): string {
  const padded = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  let text = '';
  for (let at = 0; at < padded.length; at += 4) {
    let left = padded.readUInt32BE(at);
    let group = '';
    for (let place = 0; place < 5; place += 1) {
      group = digits.charAt(left % 85) + group;
      left = Math.floor(left / 85);
    }
    text += group;
  }
  return text;
}

/** Applies a delta in git's pack format. Without a base, returns only the inserted pieces, each on its own line. */
function applyDelta(base: Buffer | undefined, delta: Buffer): Buffer | undefined {
  let at = 0;
  const size = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = delta[at++];
      if (byte === undefined || shift > 2 ** 35) return Number.NaN;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  const from = size();
  const to = size();
  if ((base !== undefined && base.length !== from) || !(to <= maxBytes)) return undefined;
  const parts: Buffer[] = [];
  let length = 0;
  while (at < delta.length) {
    const code = delta[at++] as number;
    if (code === 0) return undefined;
    if (code < 128) {
      parts.push(delta.subarray(at, at + code));
      at += code;
      length += code;
    } else {
      let offset = 0;
      let count = 0;
      for (let place = 0; place < 4; place += 1)
        if (code & (1 << place)) offset += (delta[at++] ?? 0) * 256 ** place;
      for (let place = 0; place < 3; place += 1)
        if (code & (16 << place)) count += (delta[at++] ?? 0) * 256 ** place;
      if (count === 0) count = 65_536;
      length += count;
      parts.push(base === undefined ? Buffer.from('\0\n') : base.subarray(offset, offset + count));
    }
    if (length > to) return undefined;
  }
  if (at > delta.length || length !== to) return undefined;
  const bytes = Buffer.concat(parts);
  return base === undefined || bytes.length === to ? bytes : undefined;
}
