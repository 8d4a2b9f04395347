/* Divides JSON and XML into content and syntax, for redaction. */
import { decodeReferences, references } from '../encoded-text.ts';

/**
 * `text`: content in the format's encoding; `key`: the same, as the name of a member. `raw`: content without
 * encoding. `bare`: a value without quotes. `frame`: the syntax itself, never changed.
 */
export type PieceKind = 'text' | 'key' | 'bare' | 'raw' | 'frame';

/** Position of a piece. The object is reused for each visit: copy values that must outlive it. */
export interface Field {
  /**
   * Name of the member, attribute or element with this value; empty if there is none. A member of a list has the
   * list's name.
   */
  name: string;
  /** The same of what holds it. */
  holder: string;
  /** Number of open containers around it. */
  depth: number;
}

type Visit = (kind: PieceKind, start: number, end: number, field: Field) => void;

/** How a format is cut into content and what holds it together. */
export interface Structure {
  /**
   * Visits every byte once, in order. False where the text is not strictly of this format, or nested deeper than
   * `maxDepth`; visits may have happened by then.
   */
  walk(text: string, visit: Visit): boolean;
  /** A `text` piece without it is not encoded. */
  readonly escape: string;
  /** Each escape of a `text` piece, global. */
  readonly escapes: RegExp;
  /** Decodes one match of `escapes`; `undefined` if the match has no meaning. */
  decode(one: string): string | undefined;
  /** Whether `escape` may occur in a piece without starting an escape. */
  readonly isLoose: boolean;
  /** The replacement for a `bare` piece. */
  bare(mark: string): string;
}

/** Deeper documents are read as text. */
const maxDepth = 512;
/** Longer member names do not identify a field. */
const maxName = 128;

const name = /[A-Za-z_:\x80-\xff][\w:.\x80-\xff-]{0,1024}/y;
const xmlBlank = /[ \t\r\n]{1,65536}/y;
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

/** Returns the end of the tag that begins at `at` and has a name ending at `from`; -1 if it is not a tag. */
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
  xmlBlank.lastIndex = at;
  return xmlBlank.test(text) ? xmlBlank.lastIndex : at;
}

const number = /-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,400})?(?![\w.+-])/y;
const blank = /[ \t\n\r\x1e]{1,65536}/y;
/** Part of a string, up to its end, an escape or an invalid character. */
const plain = /[^"\\\x00-\x1f]*/y;

/** The tokens allowed next. */
type Next = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'text';

/** JSON (RFC 8259), and any sequence of JSON texts (NDJSON, RFC 7464). Strings are content, numbers are bare. */
export const jsonStructure: Structure = {
  walk(text, visit) {
    const field: Field = { name: '', holder: '', depth: 0 };
    /** For each open container: its closing bracket, and the name of its member. */
    const closers: string[] = [];
    const names: string[] = [''];
    let next: Next = 'text';
    let key = '';
    const ended = (): Next => (closers.length === 0 ? 'text' : 'comma-or-end');
    const inObject = (): boolean => closers.at(-1) === '}';
    let at = text.startsWith('\xef\xbb\xbf') ? 3 : 0;
    if (at > 0) visit('frame', 0, at, field);
    while (at < text.length) {
      blank.lastIndex = at;
      if (blank.test(text)) {
        visit('frame', at, blank.lastIndex, field);
        at = blank.lastIndex;
        continue;
      }
      const char = text.charAt(at);
      if (char === ',' || char === ':') {
        if (next !== (char === ',' ? 'comma-or-end' : 'colon')) return false;
        next = char === ':' || !inObject() ? 'value' : 'key';
        visit('frame', at, at + 1, field);
        at += 1;
        continue;
      }
      if (char === '}' || char === ']') {
        if (closers.at(-1) !== char || !(next === 'comma-or-end' || next.endsWith('-or-end'))) return false;
        closers.pop();
        names.pop();
        visit('frame', at, at + 1, field);
        at += 1;
        next = ended();
        continue;
      }
      const isKey = next === 'key' || next === 'key-or-end';
      if (next === 'colon' || next === 'comma-or-end' || (isKey && char !== '"')) return false;
      field.depth = closers.length;
      field.holder = names[names.length - 1] ?? '';
      field.name = isKey || inObject() ? key : field.holder;
      if (char === '{' || char === '[') {
        if (closers.length >= maxDepth) return false;
        closers.push(char === '{' ? '}' : ']');
        names.push(field.name);
        visit('frame', at, at + 1, field);
        at += 1;
        next = char === '{' ? 'key-or-end' : 'value-or-end';
        continue;
      }
      if (char === '"') {
        const end = closingQuote(text, at + 1);
        if (end < 0) return false;
        if (isKey) {
          key = end - at - 1 > maxName ? '' : text.slice(at + 1, end);
          field.name = key;
        }
        visit('frame', at, at + 1, field);
        visit(isKey ? 'key' : 'text', at + 1, end, field);
        visit('frame', end, end + 1, field);
        at = end + 1;
        next = isKey ? 'colon' : ended();
        continue;
      }
      const word = char === 't' ? 'true' : char === 'f' ? 'false' : char === 'n' ? 'null' : undefined;
      number.lastIndex = at;
      if (word === undefined ? !number.test(text) : !text.startsWith(word, at)) return false;
      const end = word === undefined ? number.lastIndex : at + word.length;
      visit(word === undefined ? 'bare' : 'frame', at, end, field);
      at = end;
      next = ended();
    }
    return closers.length === 0;
  },
  escape: '\\',
  escapes: /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])/g,
  decode: (one) => JSON.parse(`"${one}"`) as string,
  isLoose: false,
  bare: (mark) => JSON.stringify(mark),
};

function closingQuote(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    plain.lastIndex = at;
    plain.test(text);
    at = plain.lastIndex;
    const code = text.charCodeAt(at);
    if (code === 34) return at;
    if (code !== 92) return -1;
  }
}
