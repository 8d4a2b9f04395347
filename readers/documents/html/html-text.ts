/* The pieces of an HTML page, and its visible text. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A piece of a page, in order. Names are in lower case. */
type HtmlPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open'; readonly name: string; readonly attributes: () => ReadonlyMap<string, string> }
  | { readonly kind: 'close'; readonly name: string };

/** Elements with content that the page does not show as text. */
const unread = new Set(['script', 'style', 'template', 'noscript', 'svg', 'iframe', 'textarea', 'title']);
const maxParts = 200_000;
/** The parser's work grows with the square of the depth. */
const maxDepth = 2000;

class Stop extends Error {}

/**
 * Pieces of a page as browsers roughly see them, without comments and scripts. It ends after 200,000 pieces, or where
 * elements are nested deeper than 2,000.
 */
export function htmlParts(html: string): readonly HtmlPart[] {
  // Loaded here: most sessions read no page.
  const { Parser } = require('htmlparser2') as typeof import('htmlparser2');
  const parts: HtmlPart[] = [];
  let depth = 0;
  /** Depth of the element that hides what is in it; 0 for none. */
  let hidden = 0;
  const add = (part: HtmlPart): void => {
    if (hidden > 0) return;
    parts.push(part);
    if (parts.length >= maxParts) throw new Stop();
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      depth += 1;
      if (depth > maxDepth) throw new Stop();
      if (hidden === 0 && unread.has(name)) hidden = depth;
      add({ kind: 'open', name, attributes: () => new Map(Object.entries(attributes)) });
    },
    ontext: (text) => add({ kind: 'text', text: text.replaceAll('\u00a0', ' ') }),
    onclosetag(name) {
      add({ kind: 'close', name });
      if (hidden === depth) hidden = 0;
      depth -= 1;
    },
  });
  try {
    parser.end(html);
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown;
  }
  return parts;
}

/** After these a new line begins. */
const blocks = new Set(
  (
    'address article aside blockquote br dd div dl dt footer form header h1 h2 h3 h4 h5 h6 hr li main nav ol p pre ' +
    'section table tr ul'
  ).split(' '),
);

/** Returns the visible text of a page by blocks, without markup, at most `maxLength` characters. */
export function htmlText(html: string, maxLength: number): string {
  const lines: string[] = [];
  let line = '';
  let length = 0;
  const end = (): void => {
    const text = line.replace(/[ \t\r\n\f]+/g, ' ').trim();
    line = '';
    if (text === '') return;
    length += text.length + 1;
    lines.push(text);
  };
  for (const part of htmlParts(html)) {
    if (length + line.length > maxLength) break;
    if (part.kind === 'text') line += part.text;
    else if (blocks.has(part.name)) end();
    else line += ' ';
  }
  end();
  return lines.join('\n').slice(0, maxLength).toWellFormed();
}

/** The same as one line. */
export function htmlLine(html: string, maxLength: number): string {
  return htmlText(html, maxLength).replaceAll('\n', ' ');
}
