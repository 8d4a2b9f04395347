/* Redacts bytes and texts, keeping their format valid. */
import { gzipSync } from 'node:zlib';
import type { PrivacyPolicy, Redaction } from '../../core/interfaces/privacy.ts';
import { inflate, isFault } from '../documents/archive/inflate.ts';
import { isTar, readTar, type TarPart, writeTar } from '../documents/archive/tar.ts';
import { readZip, writeZip } from '../documents/archive/zip.ts';
import { joinReceipts, markOf } from './redaction.ts';
import { findRegions, Redactor, type RedactorOptions } from './redactor.ts';
import { redactStructured } from './structured/redact-structured.ts';
import { jsonStructure, xmlStructure } from './structured/structure.ts';

/**
 * Nesting depth of the bytes in containers, and the number of bytes that may still be inflated in the outermost one.
 */
interface Inside {
  readonly layer: number;
  readonly budget: { left: number };
}

const outermost = (): Inside => ({ layer: 0, budget: { left: maxInflatedBytes } });
const deeper = ({ layer, budget }: Inside): Inside => ({ layer: layer + 1, budget });

export interface Redacted {
  readonly bytes: Uint8Array;
  readonly redactions: readonly Redaction[];
  /**
   * What could not be looked into, or not all of it: `zip`, `gzip` (broken, encrypted, beyond the limit), `pdf`, a
   * picture. Its bytes are as they were.
   */
  readonly unscanned?: string;
}

const chunkBytes = 1024 * 1024;
const maxInflatedBytes = 64 * 1024 * 1024;
const maxLayers = 2;
/** Larger documents are read as text, a window at a time: all of one is held some times over. */
const maxDocumentBytes = 256 * 1024 * 1024;
const tarLimits = { members: 100_000, isStrict: false };
const zipLimits = { members: 10_000, memberBytes: Number.POSITIVE_INFINITY, isPlain: true };

const closedFormats: readonly (readonly [name: string, magic: string])[] = [
  ['zstd', '\x28\xb5\x2f\xfd'],
  ['xz', '\xfd7zXZ\x00'],
  ['bzip2', 'BZh'],
  ['7z', '7z\xbc\xaf\x27\x1c'],
  ['png', '\x89PNG'],
  ['jpeg', '\xff\xd8\xff'],
  ['sqlite', 'SQLite format 3\x00'],
];

/**
 * Returns the bytes without data of the classes, and the receipt. JSON and XML stay well formed, TAP keeps its lines,
 * and UTF-16, gzip, zip and tar keep their format. A PDF with any match is replaced by the mark. Without a match, the
 * same array is returned.
 */
export function redact(bytes: Uint8Array, options: RedactorOptions, inside: Inside = outermost()): Redacted {
  if (options.classes.size === 0 || bytes.length === 0) return { bytes, redactions: [] };
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString(
    'latin1',
  );
  if (head.startsWith('\x1f\x8b')) return redactGzip(bytes, options, inside);
  if (/^PK(?:\x03\x04|\x05\x06)/.test(head)) return redactZip(bytes, options, inside);
  if (head.startsWith('%PDF-')) return redactPdf(bytes, options, inside);
  if (isTar(head)) return redactTar(bytes, options, inside);
  const closed = closedFormats.find(([, magic]) => head.startsWith(magic));
  if (closed) return { bytes, redactions: [], unscanned: closed[0] };
  const order = utf16Of(head);
  if (order !== undefined) return redactUtf16(bytes, order, options, inside);
  const start = head.replace(/^\xef\xbb\xbf/, '').trimStart();
  const structure = /^[{["]/.test(start)
    ? jsonStructure
    : /^<(?:\?xml|[A-Za-z])/.test(start)
      ? xmlStructure
      : undefined;
  const isHeld = bytes.length <= maxDocumentBytes;
  const structured = isHeld && structure ? redactStructured(bytes, structure, options) : undefined;
  if (structured) return structured;
  const keepsLines = /^(?:TAP version \d|\d+\.\.\d+|(?:not )?ok\b|# Subtest)/.test(start);
  return redactText(bytes, { ...options, keepsLines });
}

function redactText(bytes: Uint8Array, options: RedactorOptions): Redacted {
  const redactor = new Redactor(options);
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += chunkBytes)
    parts.push(redactor.write(bytes.subarray(from, from + chunkBytes)));
  parts.push(redactor.end());
  const { redactions } = redactor;
  return redactions.length === 0 ? { bytes, redactions } : { bytes: Buffer.concat(parts), redactions };
}

function redactGzip(bytes: Uint8Array, options: RedactorOptions, inside: Inside): Redacted {
  if (inside.layer >= maxLayers) return { bytes, redactions: [], unscanned: 'gzip' };
  const inner = inflate(bytes, 'gzip', inside.budget.left);
  if (isFault(inner)) return { bytes, redactions: [], unscanned: 'gzip' };
  inside.budget.left -= inner.length;
  const redacted = redact(inner, options, deeper(inside));
  return redacted.redactions.length === 0
    ? { ...redacted, bytes }
    : { ...redacted, bytes: gzipSync(redacted.bytes) };
}

/** A member of an archive: what is read as its name, and its content. */
interface Member {
  readonly name: Buffer;
  readonly bytes: Buffer;
}

/** Redacts the members of an archive, their names too; `write` makes an archive of the changed ones. */
function redactMembers(
  kind: 'zip' | 'tar',
  bytes: Uint8Array,
  members: readonly Member[],
  {
    options,
    ofNames = options,
    inside,
    write,
  }: {
    readonly options: RedactorOptions;
    readonly ofNames?: RedactorOptions;
    readonly inside: Inside;
    readonly write: (changed: readonly Member[]) => Buffer;
  },
): Redacted {
  const redacted = members.map((one) => ({
    name: redact(one.name, ofNames, deeper(inside)),
    content: redact(one.bytes, options, deeper(inside)),
  }));
  const redactions = joinReceipts(
    redacted.flatMap(({ name, content }) => [name.redactions, content.redactions]),
  );
  const unscanned = redacted.find(({ content }) => content.unscanned !== undefined)?.content.unscanned;
  const changed = redacted.map(({ name, content }) => ({
    name: asBuffer(name.bytes),
    bytes: asBuffer(content.bytes),
  }));
  return {
    bytes: redactions.length === 0 ? bytes : write(changed),
    redactions,
    ...(unscanned === undefined ? {} : { unscanned: `${kind}: ${unscanned}` }),
  };
}

function redactZip(bytes: Uint8Array, options: RedactorOptions, inside: Inside): Redacted {
  const { budget } = inside;
  const files =
    inside.layer >= maxLayers ? undefined : readZip(asBuffer(bytes), { ...zipLimits, bytes: budget.left });
  if (files === undefined || isFault(files)) return { bytes, redactions: [], unscanned: 'zip' };
  budget.left -= files.reduce((sum, file) => sum + file.bytes.length, 0);
  const write = (changed: readonly Member[]): Buffer =>
    writeZip(files.map((file, index) => ({ ...file, ...changed[index] })));
  return redactMembers('zip', bytes, files, { options, inside, write });
}

function redactTar(bytes: Uint8Array, options: RedactorOptions, inside: Inside): Redacted {
  const parts = inside.layer > maxLayers ? undefined : readTar(asBuffer(bytes), tarLimits);
  if (parts === undefined || isFault(parts) || goesOn(parts))
    return { bytes, redactions: [], unscanned: 'tar' };
  const members = parts.map((part) => ({ name: part.header.subarray(0, 100), bytes: part.bytes }));
  const write = (changed: readonly Member[]): Buffer =>
    writeTar(
      parts.map(({ header }, index) => {
        const { name = header, bytes: content = Buffer.alloc(0) } = changed[index] ?? {};
        return { header: Buffer.concat([name, header.subarray(100)]), bytes: content };
      }),
    );
  return redactMembers('tar', bytes, members, {
    options,
    ofNames: { ...options, keepsLength: true },
    inside,
    write,
  });
}

/** Data follows the end of the archive; another reader may read it as more of the archive. */
function goesOn(parts: readonly TarPart[]): boolean {
  const end = parts.at(-1)?.header ?? Buffer.alloc(0);
  return end.subarray(0, 512).every((octet) => octet === 0) && end.some((octet) => octet !== 0);
}

/** Text in a PDF cannot be replaced without a new page layout: on any match, the whole content is dropped. */
function redactPdf(bytes: Uint8Array, options: RedactorOptions, { budget }: Inside): Redacted {
  const { text, isWhole } = readPdf(asBuffer(bytes), budget.left);
  budget.left -= text.length;
  const { redactions } = redactText(text, options);
  const [first] = redactions;
  if (first) return { bytes: Buffer.from(`${markOf(first)}\n`), redactions };
  return { bytes, redactions, ...(isWhole ? {} : { unscanned: 'pdf' }) };
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** By byte-order mark, or by a zero in every other byte of the first kilobytes. */
function utf16Of(head: string): 'le' | 'be' | undefined {
  if (head.startsWith('\xff\xfe')) return 'le';
  if (head.startsWith('\xfe\xff')) return 'be';
  if (head.length < 8) return undefined;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < head.length; at += 1) {
    if (head.charCodeAt(at) !== 0) continue;
    if (at % 2 === 0) even += 1;
    else odd += 1;
  }
  const half = head.length / 2;
  if (odd > half * 0.7 && even < half * 0.1) return 'le';
  return even > half * 0.7 && odd < half * 0.1 ? 'be' : undefined;
}

function redactUtf16(
  bytes: Uint8Array,
  order: 'le' | 'be',
  options: RedactorOptions,
  inside: Inside,
): Redacted {
  // A stray last byte is kept out of the pairs.
  const paired = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  const little = order === 'le' ? paired : paired.swap16();
  const { redactions, bytes: utf8 } = redact(
    Buffer.from(little.toString('utf16le')),
    options,
    deeper(inside),
  );
  if (redactions.length === 0) return { bytes, redactions };
  const back = Buffer.from(Buffer.from(utf8).toString('utf8'), 'utf16le');
  return { bytes: order === 'le' ? back : back.swap16(), redactions };
}

/** What a PDF holds that can be read. */
interface PdfContent {
  /** Its objects, its inflated streams, and the text that is shown by them, piece by piece joined. */
  readonly text: Buffer;
  /** True if all of it was read: no part is encrypted, compressed in another way, or written as glyph numbers. */
  readonly isWhole: boolean;
}

const maxStreams = 20_000;
const streamHead = /stream\r?\n/g;
/** Strings that are shown one after the other: kerning cuts words. */
const shown = /\(((?:[^()\\]|\\[\s\S]){0,4096})\)/g;
const separator = Buffer.from('\n\0\n\n');

/** Reads plain and deflated text of a PDF, at most `maxBytes` of it. */
function readPdf(bytes: Buffer, maxBytes: number): PdfContent {
  const whole = bytes.toString('latin1');
  const parts: Buffer[] = [];
  let isWhole = !/\/Encrypt\b|\/Identity-[HV]\b|\/Type0\b/.test(whole);
  let left = maxBytes;
  let count = 0;
  let open = 0;
  streamHead.lastIndex = 0;
  for (let head = streamHead.exec(whole); head; head = streamHead.exec(whole)) {
    if (whole.startsWith('end', head.index - 3)) continue;
    const from = streamHead.lastIndex;
    const next = whole.indexOf('endstream', from);
    const end = next < 0 ? whole.length : next;
    const near = whole.slice(Math.max(0, head.index - 2048), head.index);
    const dictionary = near.slice(Math.max(0, near.lastIndexOf(' obj')));
    const content = ++count > maxStreams ? undefined : read(bytes.subarray(from, end), dictionary, left);
    parts.push(bytes.subarray(open, from), separator);
    if (content === undefined) isWhole = false;
    else {
      left -= content.length;
      parts.push(content, separator, textOf(content), separator);
      if (/\/Identity-[HV]\b|\/Type0\b/.test(content.toString('latin1'))) isWhole = false;
    }
    open = end;
    streamHead.lastIndex = end;
  }
  parts.push(bytes.subarray(open));
  return { text: Buffer.concat(parts), isWhole };
}

function read(stream: Buffer, dictionary: string, left: number): Buffer | undefined {
  if (!dictionary.includes('/Filter')) return stream.length <= left ? stream : undefined;
  if (
    !/\/Filter\s*\[?\s*\/FlateDecode\s*\]?\s*(?:\/|>>)/.test(dictionary) ||
    /\/Predictor\s+(?!1\b)\d/.test(dictionary)
  )
    return undefined;
  const content = inflate(stream, 'zlib', left);
  return isFault(content) ? undefined : content;
}

function textOf(content: Buffer): Buffer {
  const lines = content.toString('latin1').split(/\bT[dDm*]\b|\bET\b/);
  const text = lines.map((line) =>
    [...line.matchAll(shown)].map(([, piece = '']) => piece.replace(/\\([()\\])/g, '$1')).join(''),
  );
  return Buffer.from(text.join('\n'), 'latin1');
}

/** Plain data with every text in it redacted; keys and everything else stay. */
export function redactTexts<T>(value: T, policy: Pick<PrivacyPolicy, 'remove' | 'words'>): T {
  if (policy.remove.length === 0) return value;
  const search = { classes: new Set(policy.remove), words: policy.words };
  return map(value, (text) => {
    const bytes = Buffer.from(text);
    const regions = findRegions(bytes, search);
    if (regions.length === 0) return text;
    let shown = '';
    let from = 0;
    for (const region of regions) {
      shown += bytes.toString('utf8', from, region.start) + markOf(region);
      from = region.end;
    }
    return shown + bytes.toString('utf8', from);
  }) as T;
}

function map(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => map(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item, change)]));
}

/** No secret is shorter. */
const minLength = 20;

/** Masks a path for output: a file name is written wherever the file is, so a token in it is removed. */
export function maskPath(path: string): string {
  return path.length < minLength ? path : redactTexts(path, { remove: ['secrets'], words: {} });
}
