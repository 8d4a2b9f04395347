/* Reads XML and JSON reports within limits. */
import { setImmediate } from 'node:timers/promises';
import type { SaxesTagPlain } from 'saxes';
import type { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import { plainLine, type ReportRefusal, reportBounds, textPieces, textRefusal } from './test-report.ts';

const maxAttributes = 256;
/** Node's own reporter leaves this mark of a CDATA section unescaped in text, where it is wrong and harmless. */
const unescapedEnd = 'the string "]]>" is disallowed in char data';
const readable = /^(?:utf-?8|us-ascii|ascii)$/i;

export type XmlAttributes = SaxesTagPlain['attributes'];

/**
 * Receives the elements by name without namespace prefix; the root has no parent. If `open` returns a refusal, the
 * document is refused.
 */
interface XmlReader {
  open(name: string, attributes: XmlAttributes, parent: string | undefined): ReportRefusal | undefined;
  text(text: string): void;
  close(name: string, parent: string | undefined): void;
}

/**
 * Gives one XML document to the reader in pieces. Returns why it is refused: document types (and so entities),
 * encodings except UTF-8, malformed or truncated XML, more than 64 MiB, 64 levels or 256 attributes.
 */
export async function readXml(bytes: Uint8Array, reader: XmlReader): Promise<ReportRefusal | undefined> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return unreadable;
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser<{ xmlns: false; position: boolean }>({ xmlns: false, position: false });
  const elements: string[] = [];
  let refusal: ReportRefusal | undefined;
  let attributes = 0;
  const refuseFor = (reason: ReportRefusal['reason'], message: string): void => {
    refusal ??= { reason, message };
  };
  parser.on('xmldecl', ({ encoding }) => {
    if (encoding !== undefined && !readable.test(encoding))
      refuseFor('encoding', `expected UTF-8, found \`${plainLine(encoding, 40)}\``);
  });
  parser.on('doctype', () => refuseFor('document-type', 'a document type is not read'));
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > maxAttributes)
      refuseFor('malformed', `an element has more than ${maxAttributes} attributes`);
  });
  parser.on('opentag', (tag) => {
    attributes = 0;
    if (refusal) return;
    const name = localName(tag.name);
    const parent = elements.at(-1);
    elements.push(name);
    if (elements.length > reportBounds.depth) {
      refuseFor('too-deep', `expected at most ${reportBounds.depth} levels of elements`);
      return;
    }
    refusal = reader.open(name, localAttributes(tag.attributes), parent);
  });
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('closetag', () => {
    if (refusal) return;
    const name = elements.pop();
    if (name !== undefined) reader.close(name, elements.at(-1));
  });
  parser.on('error', ({ message }) => {
    if (!message.includes(unescapedEnd)) refuseFor('malformed', `not well-formed XML: ${plainLine(message)}`);
  });
  for (const piece of textPieces(bytes)) {
    parser.write(piece);
    if (refusal) return refusal;
    // Others get their turn after each piece of 64 KiB.
    await setImmediate();
  }
  const open = elements.length;
  parser.close();
  return open > 0 ? { reason: 'truncated', message: `the XML ends inside ${open} open elements` } : refusal;
}

/** A prefix may name any namespace, or an undeclared one, so an element counts by its local name alone. */
function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function localAttributes(attributes: XmlAttributes): XmlAttributes {
  const names = Object.keys(attributes);
  if (!names.some((name) => name.includes(':'))) return attributes;
  const prefixed = names.filter((name) => name.includes(':'));
  const local = prefixed.map((name) => [localName(name), attributes[name] ?? ''] as const);
  return { ...Object.fromEntries(local), ...attributes };
}

/** A parsed document, or why it cannot be one. */
type ReadReportJson =
  | { readonly value: unknown; readonly refusal?: undefined }
  | { readonly value?: undefined; readonly refusal: ReportRefusal };

/**
 * Parses JSON after it counted what opens or separates values, so that a small file cannot fill the heap. Refused:
 * encodings except UTF-8, more than 64 MiB, 64 levels or 8,000,000 values, invalid or truncated JSON. An object with
 * a duplicate member is refused too, because readers disagree about which one counts.
 */
export function readReportJson(bytes: Uint8Array): ReadReportJson {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  let values = 0;
  for (const byte of bytes) if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  if (values > reportBounds.jsonTokens) {
    const message = `expected at most ${reportBounds.jsonTokens} values, found ${values}`;
    return { refusal: { reason: 'too-large', message } };
  }
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    const { value } = parseStrictJson(hasMark ? bytes.subarray(3) : bytes, {
      maxBytes: reportBounds.bytes,
      maxDepth: reportBounds.depth,
      roundsNumbers: true,
      allowsIllFormed: 'surrogates',
    });
    return { value };
  } catch (fault) {
    // The parser's message would quote the content.
    const { reason } = (fault as WritError).detail;
    const known = refusals[String(reason)];
    if (known) return { refusal: known };
    const text = new TextDecoder().decode(bytes);
    const message = `not JSON, it begins with \`${plainLine(text, 40)}\``;
    return { refusal: { reason: 'malformed', message } };
  }
}

const refusals: Readonly<Record<string, ReportRefusal>> = {
  'duplicate-key': { reason: 'duplicate', message: 'an object names a member twice' },
  'too-deep': { reason: 'too-deep', message: `expected at most ${reportBounds.depth} levels of JSON` },
  'unexpected-end': { reason: 'truncated', message: 'the JSON is cut off' },
};

/** The text, cut to 1,000 characters; `undefined` for anything else and for an empty one. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 1000) : undefined;
}

/** The name of a test, whole: names are compared; `undefined` for anything else and for an empty one. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A count; 0 for anything else. What a report claims of its failures goes through `claimedCount`. */
export function countOf(value: unknown): number {
  return Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
}

/** A time that is not negative, times `scale`; `undefined` for anything else. */
export function timeOf(value: unknown, scale = 1): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value * scale : undefined;
}
