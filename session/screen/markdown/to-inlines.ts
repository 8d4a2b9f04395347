import type { MarkedToken, Token } from 'marked';
import type { Tone } from '../line.ts';
import { visible } from '../visible.ts';
import type { Inline, InlineLine } from './block.ts';

/** Emphasis in emphasis; what is deeper is text. */
const mostDepth = 16;

interface Around {
  readonly tone: Tone;
  readonly href?: string;
}

/** The lines of a paragraph or the only one of a heading. What they hold is safe to be shown. */
export function toInlines(tokens: readonly Token[] | undefined, tone: Tone = 'plain'): readonly InlineLine[] {
  const lines: Inline[][] = [[]];
  put(tokens ?? [], { tone }, 0, lines);
  return lines;
}

/** Text that is no Markdown, line by line. */
export function toPlainLines(text: string, tone: Tone = 'plain'): readonly InlineLine[] {
  const lines: Inline[][] = [[]];
  add(text, { tone }, lines);
  return lines;
}

function put(tokens: readonly Token[], around: Around, depth: number, lines: Inline[][]): void {
  for (const token of tokens as readonly MarkedToken[]) {
    if (depth > mostDepth) add(token.raw, around, lines);
    else putOne(token, around, depth + 1, lines);
  }
}

function putOne(token: MarkedToken, around: Around, depth: number, lines: Inline[][]): void {
  switch (token.type) {
    case 'strong':
    case 'em': {
      const tone = token.type === 'strong' ? 'strong' : 'emphasis';
      put(token.tokens, { ...around, tone: over(around.tone, tone) }, depth, lines);
      return;
    }
    case 'del': {
      // One `~` is "about" more often than it strikes anything out.
      const mark = token.raw.startsWith('~~') ? '~~' : '~';
      add(mark, around, lines);
      put(token.tokens, around, depth, lines);
      add(mark, around, lines);
      return;
    }
    case 'codespan':
      add(token.text.replaceAll('\n', ' '), { ...around, tone: 'code' }, lines);
      return;
    case 'br':
      lines.push([]);
      return;
    case 'link':
      putLink(token.href, token.text, token.tokens, around, depth, lines);
      return;
    case 'image':
      putLink(token.href, token.text, undefined, around, depth, lines);
      return;
    case 'escape':
      add(token.text, around, lines);
      return;
    case 'text':
      if (token.tokens === undefined) add(decodeReferences(token.text), around, lines);
      else put(token.tokens, around, depth, lines);
      return;
    case 'checkbox':
      return;
    default:
      add(token.raw, around, lines);
  }
}

/** A link shows where it leads, unless its text says so. */
function putLink(
  target: string,
  text: string,
  tokens: readonly Token[] | undefined,
  around: Around,
  depth: number,
  lines: Inline[][],
): void {
  const decoded = decodeReferences(target);
  const href = safeHref(decoded);
  const link: Around = href === undefined ? { tone: 'link' } : { tone: 'link', href };
  if (tokens === undefined) add(text === '' ? 'image' : text, link, lines);
  else put(tokens, link, depth, lines);
  if (!saysWhere(decodeReferences(text), decoded)) add(` (${decoded})`, { ...around, tone: 'dim' }, lines);
}

function saysWhere(text: string, target: string): boolean {
  const bare = (one: string): string => one.replace(/^(?:https?:\/\/|mailto:)/i, '').replace(/\/$/, '');
  return bare(text.trim()) === bare(target);
}

/** What is strong in a heading is still the heading. */
function over(around: Tone, inner: Tone): Tone {
  return around === 'plain' || (around === 'emphasis' && inner === 'strong') ? inner : around;
}

function add(text: string, { tone, href }: Around, lines: Inline[][]): void {
  for (const [at, part] of text.split('\n').entries()) {
    if (at > 0) lines.push([]);
    const shown = visible(part);
    const line = lines.at(-1);
    if (shown === '' || line === undefined) continue;
    const last = line.at(-1);
    if (last !== undefined && last.tone === tone && last.href === href)
      line[line.length - 1] = { ...last, text: last.text + shown };
    else line.push(href === undefined ? { text: shown, tone } : { text: shown, tone, href });
  }
}

/** The named characters that models write; others stay as they are written. */
const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  rarr: '→',
  larr: '←',
  times: '×',
  bull: '•',
  middot: '·',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
};

/** Text with its character references (`&amp;`, `&#x41;`) as characters; the result is as untrusted as it was. */
function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return named[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
    },
  );
}

const schemes: readonly string[] = ['http', 'https', 'mailto'];

/**
 * Where a link may lead: an address of the web, a mailbox, or a path of this site. Nothing for every other scheme, and
 * for what a browser would read as another address than a person does.
 */
export function safeHref(target: string): string | undefined {
  if (target === '' || /[\x00-\x20\x7f\\]|^\/\//.test(target)) return undefined;
  const scheme = /^([^/?#:]*):/.exec(target)?.[1];
  return scheme === undefined || schemes.includes(scheme.toLowerCase()) ? target : undefined;
}
