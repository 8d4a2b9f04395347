import type { Structure } from './structure.ts';

const literal = /true|false|null/y;
const number = /-?\d[\d.eE+-]{0,400}(?![\d.])/y;
const space = /[\s{}[\],:\x1e]{1,4096}/y;

/** JSON, and any sequence of JSON texts (NDJSON, RFC 7464). Strings are content, numbers are bare. */
export const jsonStructure: Structure = {
  walk(text, visit) {
    let at = text.startsWith('\xef\xbb\xbf') ? 3 : 0;
    if (at > 0) visit('frame', 0, at);
    while (at < text.length) {
      if (text.charAt(at) === '"') {
        const end = closingQuote(text, at + 1);
        if (end < 0) return false;
        visit('frame', at, at + 1);
        visit('text', at + 1, end);
        visit('frame', end, end + 1);
        at = end + 1;
        continue;
      }
      const kind = [space, literal, number].find((form) => {
        form.lastIndex = at;
        return form.test(text);
      });
      if (!kind) return false;
      visit(kind === number ? 'bare' : 'frame', at, kind.lastIndex);
      at = kind.lastIndex;
    }
    return true;
  },
  escape: '\\',
  decode(piece) {
    try {
      const parsed: unknown = JSON.parse(`"${Buffer.from(piece, 'latin1').toString('utf8')}"`);
      return typeof parsed === 'string' ? Buffer.from(parsed) : undefined;
    } catch {
      return undefined;
    }
  },
  encode: (content) => Buffer.from(JSON.stringify(content.toString('utf8')).slice(1, -1)),
  bare: (mark) => JSON.stringify(mark),
};

function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charAt(end - 1 - slashes) === '\\') slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}
