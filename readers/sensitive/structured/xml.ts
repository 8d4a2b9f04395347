import { decodeReferences, references } from '../find-encoded.ts';
import { type Field, maxDepth, maxName, type Structure, type Visit } from './structure.ts';

const name = /[A-Za-z_:\x80-\xff][\w:.\x80-\xff-]{0,1024}/y;
const blank = /[ \t\r\n]{1,65536}/y;
const equals = /[ \t\r\n]{0,1024}=[ \t\r\n]{0,1024}/y;
const instruction = /<\?[^<>]{0,4096}\?>/y;

/**
 * One XML document without a document type: elements that close as they open, around one another. Text, attribute
 * values, CDATA and comments are content.
 */
export const xmlStructure: Structure = {
  walk(text, visit) {
    const field: Field = { name: '', holder: '', depth: 0 };
    const open: string[] = [];
    let hasRoot = false;
    let at = text.startsWith('\xef\xbb\xbf') ? 3 : 0;
    if (at > 0) visit('frame', 0, at, field);
    while (at < text.length) {
      field.depth = open.length;
      field.name = open.at(-1) ?? '';
      field.holder = open.at(-2) ?? '';
      if (text.charAt(at) !== '<') {
        const next = text.indexOf('<', at);
        const end = next < 0 ? text.length : next;
        if (open.length === 0 && text.slice(at, end).trim() !== '') return false;
        visit('text', at, end, field);
        at = end;
        continue;
      }
      const fenceEnd =
        fenced(text, at, '<!--', '-->', visit, field) ?? fenced(text, at, '<![CDATA[', ']]>', visit, field);
      if (fenceEnd !== undefined) {
        if (fenceEnd < 0 || (open.length === 0 && text.startsWith('<![', at))) return false;
        at = fenceEnd;
        continue;
      }
      const second = text.charAt(at + 1);
      if (second === '?') {
        instruction.lastIndex = at;
        if (!instruction.test(text)) return false;
        visit('frame', at, instruction.lastIndex, field);
        at = instruction.lastIndex;
        continue;
      }
      const isClosing = second === '/';
      const nameAt = at + (isClosing ? 2 : 1);
      name.lastIndex = nameAt;
      if (second === '!' || !name.test(text)) return false;
      const called = text.slice(nameAt, name.lastIndex);
      if (isClosing) {
        const end = skipBlank(text, name.lastIndex);
        if (open.pop() !== called || text.charAt(end) !== '>') return false;
        visit('frame', at, end + 1, field);
        at = end + 1;
        continue;
      }
      if (open.length === 0 && hasRoot) return false;
      hasRoot = true;
      const end = attributes(text, at, name.lastIndex, called, visit, field);
      if (end < 0 || open.length >= maxDepth) return false;
      if (text.charAt(end - 2) !== '/') open.push(called);
      at = end;
    }
    return hasRoot && open.length === 0;
  },
  escape: '&',
  // Its own: decoding one moves the other's place.
  escapes: new RegExp(references, 'g'),
  decode(one) {
    const decoded = decodeReferences(one);
    return decoded === one ? undefined : decoded;
  },
  isLoose: true,
  bare: (mark) => mark,
};

/**
 * The end behind a comment or CDATA section that begins at `at`; -1 where it never ends, `undefined` where none begins.
 */
function fenced(
  text: string,
  at: number,
  opening: string,
  closing: string,
  visit: Visit,
  field: Field,
): number | undefined {
  if (!text.startsWith(opening, at)) return undefined;
  const end = text.indexOf(closing, at + opening.length);
  if (end < 0) return -1;
  visit('frame', at, at + opening.length, field);
  visit('raw', at + opening.length, end, field);
  visit('frame', end, end + closing.length, field);
  return end + closing.length;
}

/** The end behind a tag that begins at `at` and whose name ends at `from`; -1 where it is none. */
function attributes(
  text: string,
  at: number,
  from: number,
  called: string,
  visit: Visit,
  field: Field,
): number {
  let done = at;
  let behind = from;
  let next = skipBlank(text, from);
  for (;;) {
    const char = text.charAt(next);
    if (char === '>' || text.startsWith('/>', next)) {
      const end = next + (char === '>' ? 1 : 2);
      visit('frame', done, end, field);
      return end;
    }
    name.lastIndex = next;
    if (next === behind || !name.test(text)) return -1;
    const nameEnd = name.lastIndex;
    equals.lastIndex = nameEnd;
    if (!equals.test(text)) return -1;
    const quote = text.charAt(equals.lastIndex);
    const start = equals.lastIndex + 1;
    const end = quote === '"' || quote === "'" ? text.indexOf(quote, start) : -1;
    if (end < 0) return -1;
    const holder = field.holder;
    const element = field.name;
    visit('frame', done, start, field);
    field.name = nameEnd - next > maxName ? '' : text.slice(next, nameEnd);
    field.holder = called;
    if (text.slice(start, end).includes('<')) return -1;
    visit('text', start, end, field);
    field.name = element;
    field.holder = holder;
    done = end;
    behind = end + 1;
    next = skipBlank(text, behind);
  }
}

function skipBlank(text: string, at: number): number {
  blank.lastIndex = at;
  return blank.test(text) ? blank.lastIndex : at;
}
