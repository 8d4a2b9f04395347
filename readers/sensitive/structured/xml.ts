import { decodeReferences } from '../find-encoded.ts';
import type { PieceKind, Structure } from './structure.ts';

const tagPart = /[^<>"']{1,4096}/y;
const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** XML without a document type. Text, attribute values, CDATA and comments are content. */
export const xmlStructure: Structure = {
  walk(text, visit) {
    let at = 0;
    while (at < text.length) {
      if (text.charAt(at) !== '<') {
        const next = text.indexOf('<', at);
        const end = next < 0 ? text.length : next;
        visit('text', at, end);
        at = end;
        continue;
      }
      const end =
        fenced(text, at, '<!--', '-->', visit) ??
        fenced(text, at, '<![CDATA[', ']]>', visit) ??
        (text.startsWith('<!', at) ? -1 : tag(text, at, visit));
      if (end < 0) return false;
      at = end;
    }
    return true;
  },
  escape: '&',
  decode: (piece) => Buffer.from(decodeReferences(Buffer.from(piece, 'latin1').toString('utf8'))),
  encode: (content) =>
    Buffer.from(content.toString('utf8').replace(/[&<>"']/g, (char) => escapes[char] ?? char)),
  bare: (mark) => mark,
};

type Visit = (kind: PieceKind, start: number, end: number) => void;

/**
 * The end behind a comment or CDATA section that begins at `at`; -1 where it never ends, `undefined` where none begins.
 */
function fenced(text: string, at: number, open: string, close: string, visit: Visit): number | undefined {
  if (!text.startsWith(open, at)) return undefined;
  const end = text.indexOf(close, at + open.length);
  if (end < 0) return -1;
  visit('frame', at, at + open.length);
  visit('raw', at + open.length, end);
  visit('frame', end, end + close.length);
  return end + close.length;
}

function tag(text: string, at: number, visit: Visit): number {
  visit('frame', at, at + 1);
  for (let from = at + 1; from < text.length; ) {
    const char = text.charAt(from);
    if (char === '<') return -1;
    if (char === '>') {
      visit('frame', from, from + 1);
      return from + 1;
    }
    if (char === '"' || char === "'") {
      const end = text.indexOf(char, from + 1);
      if (end < 0) return -1;
      visit('frame', from, from + 1);
      visit('text', from + 1, end);
      visit('frame', end, end + 1);
      from = end + 1;
      continue;
    }
    tagPart.lastIndex = from;
    tagPart.test(text);
    visit('frame', from, tagPart.lastIndex);
    from = tagPart.lastIndex;
  }
  return -1;
}
