/** A piece of a page, in order. Names are in lower case; attributes of an opening tag are read when somebody asks. */
export type HtmlPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open'; readonly name: string; readonly attributes: () => ReadonlyMap<string, string> }
  | { readonly kind: 'close'; readonly name: string };

/** What stands in these is for no reader. */
const unread = new Set(['script', 'style', 'template', 'noscript', 'svg', 'iframe', 'textarea', 'title']);
const maxParts = 200_000;

/**
 * Pieces of a page as browsers roughly see them: no comments, no scripts, broken tags as text. Linear in its length;
 * after 200,000 pieces it ends.
 */
export function* htmlParts(html: string): Generator<HtmlPart> {
  // Where an end is not found once, it is not looked for again: a page of nothing but beginnings stays linear.
  const ended = new Set<string>();
  const find = (text: string, from: number): number => {
    if (ended.has(text)) return -1;
    const at = html.indexOf(text, from);
    if (at < 0) ended.add(text);
    return at;
  };
  let at = 0;
  for (let parts = 0; at < html.length && parts < maxParts; parts += 1) {
    const next = html.indexOf('<', at);
    if (next !== at) {
      const text = html.slice(at, next < 0 ? html.length : next);
      at += text.length;
      yield { kind: 'text', text: decodeEntities(text) };
      continue;
    }
    if (html.startsWith('<!--', at)) {
      const end = find('-->', at + 4);
      at = end < 0 ? html.length : end + 3;
      continue;
    }
    const [tag, slash, given = ''] =
      /^<(\/?)([a-zA-Z][a-zA-Z0-9-]{0,31})/.exec(html.slice(at, at + 40)) ?? [];
    const end = find('>', at + 1);
    if (tag === undefined || end < 0) {
      // A declaration, or no tag at all.
      const isDeclared = html.charAt(at + 1) === '!' || html.charAt(at + 1) === '?';
      at = isDeclared && end >= 0 ? end + 1 : at + 1;
      if (!isDeclared) yield { kind: 'text', text: '<' };
      continue;
    }
    const name = given.toLowerCase();
    const inside = html.slice(at + tag.length, end);
    at = end + 1;
    if (slash === '/') {
      yield { kind: 'close', name };
      continue;
    }
    if (unread.has(name) && !inside.endsWith('/')) {
      const close = closeOf(html, name, at);
      at = close < 0 ? html.length : close;
      continue;
    }
    yield { kind: 'open', name, attributes: () => attributesOf(inside) };
  }
}

/** Where the end tag of an element begins that holds no others; its name in any case. */
function closeOf(html: string, name: string, from: number): number {
  const pattern = new RegExp(`</${name}(?![a-zA-Z0-9-])`, 'gi');
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? -1;
}

const maxAttributes = 16_384;

function attributesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const form = /([a-zA-Z_:][a-zA-Z0-9_:.-]{0,63})(?:\s{0,8}=\s{0,8}(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;
  for (const [, name = '', double, single, bare] of text.slice(0, maxAttributes).matchAll(form)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, decodeEntities(double ?? single ?? bare ?? ''));
  }
  return found;
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  middot: '·',
  copy: '©',
};

/** Text without character references; of the names those that pages use, and every number. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
      const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      const isScalar = point > 0 && point <= 0x10_ffff && !(point >= 0xd800 && point <= 0xdfff);
      return isScalar ? String.fromCodePoint(point) : '\uFFFD';
    },
  );
}
