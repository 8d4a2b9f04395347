import type { Structure } from './structure.ts';

const number = /-?\d[\d.eE+-]{0,400}(?![\d.])/y;
/** What holds values together. */
const frame = Uint8Array.from({ length: 256 }, (_, code) =>
  /[\s{}[\],:\x1e]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** JSON, and any sequence of JSON texts (NDJSON, RFC 7464). Strings are content, numbers are bare. */
export const jsonStructure: Structure = {
  walk(text, visit) {
    let at = text.startsWith('\xef\xbb\xbf') ? 3 : 0;
    if (at > 0) visit('frame', 0, at);
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === 34) {
        const end = closingQuote(text, at + 1);
        if (end < 0) return false;
        visit('frame', at, at + 1);
        visit('text', at + 1, end);
        visit('frame', end, end + 1);
        at = end + 1;
        continue;
      }
      const from = at;
      while (at < text.length && frame[text.charCodeAt(at)] === 1) at += 1;
      if (at > from) {
        visit('frame', from, at);
        continue;
      }
      const word = code === 116 ? 'true' : code === 102 ? 'false' : code === 110 ? 'null' : undefined;
      if (word !== undefined) {
        if (!text.startsWith(word, at)) return false;
        at += word.length;
        visit('frame', from, at);
        continue;
      }
      number.lastIndex = at;
      if (!number.test(text)) return false;
      at = number.lastIndex;
      visit('bare', from, at);
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
    while (text.charCodeAt(end - 1 - slashes) === 92) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}
