import { type Field, maxDepth, maxName, type Structure } from './structure.ts';

const number = /-?(?:0|[1-9]\d{0,400})(?:\.\d{1,400})?(?:[eE][+-]?\d{1,400})?(?![\w.+-])/y;
const blank = /[ \t\n\r\x1e]{1,65536}/y;
/** Of a string, up to its end, an escape or what may not stand in it. */
const plain = /[^"\\\x00-\x1f]*/y;

/** What may stand next. */
type Next = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'text';

/** JSON (RFC 8259), and any sequence of JSON texts (NDJSON, RFC 7464). Strings are content, numbers are bare. */
export const jsonStructure: Structure = {
  walk(text, visit) {
    const field: Field = { name: '', holder: '', depth: 0 };
    /** Of what is open: its closing bracket, and the name that it stands under. */
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
