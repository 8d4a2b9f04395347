import { gunzipSync, gzipSync } from 'node:zlib';
import type { Redaction } from './redaction.ts';
import { Redactor, type RedactorOptions } from './redactor.ts';
import { jsonStructure } from './structured/json.ts';
import { redactStructured } from './structured/redact-structured.ts';
import { xmlStructure } from './structured/xml.ts';

export interface Redacted {
  readonly bytes: Uint8Array;
  readonly redactions: readonly Redaction[];
  /** What could not be looked into: `zip`, `gzip` (broken, or beyond the limit). The bytes are as they were. */
  readonly unscanned?: string;
}

const chunkBytes = 1024 * 1024;
const maxInflatedBytes = 64 * 1024 * 1024;
const maxLayers = 2;

const closedFormats: readonly (readonly [name: string, magic: string])[] = [
  ['zip', 'PK\x03\x04'],
  ['zstd', '\x28\xb5\x2f\xfd'],
  ['xz', '\xfd7zXZ\x00'],
  ['bzip2', 'BZh'],
  ['7z', '7z\xbc\xaf\x27\x1c'],
  ['pdf', '%PDF-'],
  ['png', '\x89PNG'],
  ['jpeg', '\xff\xd8\xff'],
  ['sqlite', 'SQLite format 3\x00'],
];

/**
 * Bytes without what is of the classes, and the receipt. JSON and XML stay well formed, TAP keeps its lines, UTF-16 and gzip stay what they
 * are. The same array comes back where nothing was found.
 */
export function redact(bytes: Uint8Array, options: RedactorOptions, layer = 0): Redacted {
  if (options.classes.size === 0 || bytes.length === 0) return { bytes, redactions: [] };
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 4096)).toString(
    'latin1',
  );
  if (head.startsWith('\x1f\x8b')) return redactGzip(bytes, options, layer);
  const closed = closedFormats.find(([, magic]) => head.startsWith(magic));
  if (closed) return { bytes, redactions: [], unscanned: closed[0] };
  const order = utf16Of(head);
  if (order !== undefined) return redactUtf16(bytes, order, options, layer);
  const start = head.replace(/^\xef\xbb\xbf/, '').trimStart();
  const structure = /^[{["]/.test(start)
    ? jsonStructure
    : /^<(?:\?xml|[A-Za-z])/.test(start)
      ? xmlStructure
      : undefined;
  const structured = structure && redactStructured(bytes, structure, options);
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

function redactGzip(bytes: Uint8Array, options: RedactorOptions, layer: number): Redacted {
  if (layer >= maxLayers) return { bytes, redactions: [], unscanned: 'gzip' };
  let inner: Buffer;
  try {
    inner = gunzipSync(bytes, { maxOutputLength: maxInflatedBytes });
  } catch {
    return { bytes, redactions: [], unscanned: 'gzip' };
  }
  const redacted = redact(inner, options, layer + 1);
  return redacted.redactions.length === 0
    ? { ...redacted, bytes }
    : { ...redacted, bytes: gzipSync(redacted.bytes) };
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
  layer: number,
): Redacted {
  // A stray last byte is kept out of the pairs.
  const paired = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  const little = order === 'le' ? paired : paired.swap16();
  const { redactions, bytes: utf8 } = redact(Buffer.from(little.toString('utf16le')), options, layer + 1);
  if (redactions.length === 0) return { bytes, redactions };
  const back = Buffer.from(Buffer.from(utf8).toString('utf8'), 'utf16le');
  return { bytes: order === 'le' ? back : back.swap16(), redactions };
}
