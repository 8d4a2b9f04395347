import { setImmediate } from 'node:timers/promises';
import type { SaxesTagPlain } from 'saxes';
import {
  type ParsedReport,
  plainLine,
  type ReportRefusal,
  refuse,
  reportBounds,
  type TestReport,
  textPieces,
  textRefusal,
} from './test-report.ts';

const maxAttributes = 256;
/** Node's own reporter leaves this mark of a CDATA section unescaped in text, where it is wrong and harmless. */
const unescapedEnd = 'the string "]]>" is disallowed in char data';
const readable = /^(?:utf-?8|us-ascii|ascii)$/i;

/** Attributes of an element. */
export type XmlAttributes = SaxesTagPlain['attributes'];

/**
 * Receives the elements of one dialect, by name without namespace prefix. If `open` returns a refusal, the document
 * is refused.
 */
export interface XmlReader {
  open(name: string, attributes: XmlAttributes, parent: string | undefined): ReportRefusal | undefined;
  text(text: string): void;
  close(name: string, parent: string | undefined): void;
  toReport(): TestReport;
}

/**
 * Reads one XML document in pieces, with the reader for its root element. Refused: document types (and so entities),
 * encodings except UTF-8, malformed or truncated XML, more than 64 MiB, 64 levels or 256 attributes.
 */
export async function readXml(
  bytes: Uint8Array,
  readerOf: (root: string) => XmlReader | undefined,
): Promise<ParsedReport> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  const { SaxesParser } = await import('saxes');
  const parser = new SaxesParser<{ xmlns: false; position: boolean }>({ xmlns: false, position: false });
  const elements: string[] = [];
  let reader: XmlReader | undefined;
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
    if (parent === undefined) {
      // The parser reports a second root as malformed.
      reader ??= readerOf(name);
      if (!reader) {
        const found = `found \`${plainLine(name, 60)}\``;
        refuseFor(
          'not-a-report',
          `expected the root element of a test report such as \`testsuites\`, ${found}`,
        );
        return;
      }
    }
    refusal = reader?.open(name, localAttributes(tag.attributes), parent);
  });
  parser.on('text', (text) => reader?.text(text));
  parser.on('cdata', (text) => reader?.text(text));
  parser.on('closetag', () => {
    if (refusal) return;
    const name = elements.pop();
    if (name !== undefined) reader?.close(name, elements.at(-1));
  });
  parser.on('error', ({ message }) => {
    if (!message.includes(unescapedEnd)) refuseFor('malformed', `not well-formed XML: ${plainLine(message)}`);
  });
  for (const piece of textPieces(bytes)) {
    parser.write(piece);
    if (refusal) return { refusal };
    // Others get their turn after each piece of 64 KiB.
    await setImmediate();
  }
  const open = elements.length;
  parser.close();
  if (open > 0) return refuse('truncated', `the XML ends inside ${open} open elements`);
  if (refusal) return { refusal };
  return reader ? { report: reader.toReport() } : refuse('malformed', 'the XML has no root element');
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
