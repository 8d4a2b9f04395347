/* Splits an HTML page into elements and text. */
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
