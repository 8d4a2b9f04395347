import type { Redaction } from '../../../core/contract/redaction.ts';
import { markOf, Receipt } from '../redaction.ts';
import type { RedactorOptions } from '../redactor.ts';
import { findRegions, type Region } from '../regions.ts';
import type { PieceKind, Structure } from './structure.ts';

/**
 * Redacts a document inside its values, so that it stays well formed. Searched is the document with every escape
 * resolved, so that a value is known by its key and a key over several strings as one. `undefined` where the bytes are
 * not of the format.
 */
export function redactStructured(
  bytes: Uint8Array,
  structure: Structure,
  options: RedactorOptions,
): { readonly bytes: Uint8Array; readonly redactions: readonly Redaction[] } | undefined {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = raw.toString('latin1');
  const plain = resolve(raw, text, structure);
  if (plain === undefined) return undefined;
  const regions = findRegions(plain, options);
  if (regions.length === 0) return { bytes, redactions: [] };
  const receipt = new Receipt(options.key);
  const counted = new Set<Region>();
  const parts: Uint8Array[] = [];
  let at = 0;
  let first = 0;
  structure.walk(text, (kind, start, end) => {
    const content = contentOf(raw, text, structure, kind, start, end);
    const from = at;
    at += content.length;
    while ((regions[first]?.end ?? Number.POSITIVE_INFINITY) <= from) first += 1;
    const touching: Region[] = [];
    for (let index = first; (regions[index]?.start ?? Number.POSITIVE_INFINITY) < at; index += 1)
      touching.push(regions[index] as Region);
    if (touching.length === 0 || kind === 'frame') {
      parts.push(raw.subarray(start, end));
      return;
    }
    for (const region of touching) {
      // Once, where its first content is: a region may begin in the frame before and go on in the next value.
      if (counted.has(region)) continue;
      counted.add(region);
      receipt.add(region, plain.subarray(region.start, region.end));
    }
    if (kind === 'bare') parts.push(Buffer.from(structure.bare(markOf(touching[0] as Region))));
    else {
      const cleaned = withoutRegions(content, from, touching);
      parts.push(kind === 'text' ? structure.encode(cleaned) : cleaned);
    }
  });
  return { bytes: Buffer.concat(parts), redactions: receipt.list() };
}

/** The document with its escapes resolved; the same bytes where it has none. */
function resolve(raw: Buffer, text: string, structure: Structure): Buffer | undefined {
  const parts: Buffer[] = [];
  let from = 0;
  let isSound = true;
  // Most documents have few escapes: the next one is looked for once.
  let nextEscape = text.indexOf(structure.escape);
  const isFormat = structure.walk(text, (kind, start, end) => {
    if (kind !== 'text' || !isSound) return;
    if (nextEscape >= 0 && nextEscape < start) nextEscape = text.indexOf(structure.escape, start);
    if (nextEscape < 0 || nextEscape >= end) return;
    const piece = text.slice(start, end);
    const content = structure.decode(piece);
    if (content === undefined) isSound = false;
    else {
      parts.push(raw.subarray(from, start), content);
      from = end;
    }
  });
  if (!isFormat || !isSound) return undefined;
  return parts.length === 0 ? raw : Buffer.concat([...parts, raw.subarray(from)]);
}

/** What a piece stands for, as `resolve` has it. */
function contentOf(
  raw: Buffer,
  text: string,
  structure: Structure,
  kind: PieceKind,
  start: number,
  end: number,
): Buffer {
  const piece = kind === 'text' ? text.slice(start, end) : '';
  const decoded = piece.includes(structure.escape) ? structure.decode(piece) : undefined;
  return decoded ?? raw.subarray(start, end);
}

function withoutRegions(content: Buffer, offset: number, regions: readonly Region[]): Buffer {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const region of regions) {
    const start = Math.max(from, region.start - offset);
    parts.push(content.subarray(from, start), Buffer.from(markOf(region)));
    from = Math.min(content.length, region.end - offset);
  }
  parts.push(content.subarray(from));
  return Buffer.concat(parts);
}
