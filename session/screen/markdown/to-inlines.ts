import type { MarkedToken, Token } from 'marked';
import type { Tone } from '../line.ts';
import { visible } from '../visible.ts';
import type { Inline, InlineLine } from './block.ts';
import { decodeReferences } from './decode-references.ts';
import { safeHref } from './safe-href.ts';

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
