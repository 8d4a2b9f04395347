/* Parses Markdown that arrives in pieces into blocks of text that is safe to show. */
import { Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { highlightCode, highlightLine, openHighlighter } from './highlighter.ts';
import { type Line, type Span, type Tone, visible } from './line.ts';

/** Text within a block; `href` is there if a screen may link to it: http, https, mailto or a relative path. */
interface Inline extends Span {
  readonly href?: string;
}

/** A line as it was written: the lines of a paragraph are not joined. */
export type InlineLine = readonly Inline[];

export interface Item {
  readonly marker: string;
  readonly checked?: boolean;
  /** An empty line separates it from the item before it. */
  readonly isSpaced: boolean;
  readonly blocks: readonly Block[];
}

export type Align = 'left' | 'center' | 'right';

/**
 * A block of text that a screen may show as it is. HTML and other unknown syntax is text.
 * `continues`: the block belongs to the block before it, which has the same type.
 */
export type Block =
  | { readonly type: 'heading'; readonly depth: number; readonly text: InlineLine }
  | { readonly type: 'paragraph'; readonly lines: readonly InlineLine[] }
  | {
      readonly type: 'code';
      readonly language: string;
      readonly lines: readonly Line[];
      readonly continues: boolean;
    }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly isOrdered: boolean; readonly items: readonly Item[] }
  | {
      readonly type: 'table';
      readonly align: readonly Align[];
      readonly head: readonly InlineLine[];
      readonly rows: readonly (readonly InlineLine[])[];
      readonly continues: boolean;
    }
  | { readonly type: 'rule' };

/** Parses text that arrives in pieces. The blocks do not depend on how the text was split. */
export interface Blocks {
  /** Returns the blocks that this piece finishes, each once: later text does not change them. */
  push(text: string): readonly Block[];
  /** Returns the open blocks as if the text ended here; costs as much as the open part is long (8 KiB at most). */
  live(): readonly Block[];
  /** Ends the text and returns its last blocks. */
  end(): readonly Block[];
}

/**
 * Splits the text into parts that later text cannot change, and parses each alone: a fenced block of code line by line,
 * other blocks up to an empty line that ends them.
 */
export function openBlocks(): Blocks {
  let open: Open = nothingOpen;
  let line = '';
  let code = openHighlighter('');
  const read = (parts: readonly Part[], keep: boolean): readonly Block[] => {
    let state = code;
    const blocks = parts.flatMap((part): readonly Block[] => {
      if (part.type === 'text') return toBlocks(part.text, part.continues);
      const { text, language, isFirst } = part;
      const coloured = highlightLine(isFirst ? openHighlighter(language) : state, text);
      state = coloured.next;
      return [{ type: 'code', language, lines: [coloured.line], continues: !isFirst }];
    });
    if (keep) code = state;
    return blocks;
  };
  const live = (): readonly Part[] => {
    if (line === '') return closePart(open);
    const step = addLine(open, line.replace(/\r$/, ''));
    return [...step.done, ...closePart(step.open)];
  };
  return {
    push(text) {
      const done: Part[] = [];
      const add = (whole: string): void => {
        const step = addLine(open, whole);
        open = step.open;
        done.push(...step.done);
      };
      for (const [at, piece] of text.split('\n').entries()) {
        if (at > 0) {
          add(line.replace(/\r$/, ''));
          line = '';
        }
        line += piece;
        while (line.length > mostPart) {
          const end = cutOf(line);
          add(line.slice(0, end));
          line = line.slice(end);
        }
      }
      return read(done, true);
    },
    live: () => read(live(), false),
    end: () => read(live(), true),
  };
}

export function readBlocks(text: string): readonly Block[] {
  const blocks = openBlocks();
  return joinBlocks([...blocks.push(text), ...blocks.end()]);
}

/** Joins each block that continues with the block before it. */
export function joinBlocks(blocks: readonly Block[]): readonly Block[] {
  const joined: Block[] = [];
  let group: { readonly lines: Line[]; readonly rows: (readonly InlineLine[])[] } = { lines: [], rows: [] };
  for (const block of blocks) {
    const isMore = 'continues' in block && block.continues && joined.at(-1)?.type === block.type;
    if (!isMore) group = { lines: [], rows: [] };
    if (block.type === 'code') {
      group.lines.push(...block.lines);
      if (!isMore) joined.push({ ...block, lines: group.lines });
    } else if (block.type === 'table') {
      group.rows.push(...block.rows);
      if (!isMore) joined.push({ ...block, rows: group.rows });
    } else joined.push(block);
  }
  return joined;
}

/** Quotes and lists in one another; deeper ones are shown as text. */
const mostBlockDepth = 9;

function toBlocks(text: string, continues = false): readonly Block[] {
  const tokens = readMarkdown(text);
  if (tokens === undefined) return [{ type: 'paragraph', lines: toPlainLines(text) }];
  const blocks = toAll(tokens, 0, 'plain');
  const [first, ...rest] = blocks;
  return continues && first?.type === 'table' ? [{ ...first, continues }, ...rest] : blocks;
}

function toAll(tokens: readonly Token[], depth: number, tone: Tone): readonly Block[] {
  return (tokens as readonly MarkedToken[]).flatMap((token) => toBlock(token, depth, tone));
}

function toBlock(token: MarkedToken, depth: number, tone: Tone): readonly Block[] {
  if (depth > mostBlockDepth) return [{ type: 'paragraph', lines: toPlainLines(token.raw.trimEnd(), tone) }];
  switch (token.type) {
    case 'space':
    case 'checkbox':
      return [];
    case 'heading':
      return [{ type: 'heading', depth: token.depth, text: toInlines(token.tokens, 'heading').flat() }];
    case 'hr':
      return [{ type: 'rule' }];
    case 'code': {
      const language = languageOf(token.lang ?? '');
      return [{ type: 'code', language, lines: highlightCode(token.text, language), continues: false }];
    }
    case 'blockquote':
      return [{ type: 'quote', blocks: toAll(token.tokens, depth + 1, tone === 'plain' ? 'quote' : tone) }];
    case 'list':
      return [toList(token, depth, tone)];
    case 'table':
      return [toTable(token)];
    case 'paragraph':
    case 'text':
      return [{ type: 'paragraph', lines: toInlines(token.tokens ?? [token], tone) }];
    default:
      return [{ type: 'paragraph', lines: toPlainLines(token.raw.trimEnd(), tone) }];
  }
}

function toList({ items, ordered, start }: Tokens.List, depth: number, tone: Tone): Block {
  const first = typeof start === 'number' ? start : 1;
  return {
    type: 'list',
    isOrdered: ordered,
    items: items.map((item, at): Item => {
      const blocks = toAll(item.tokens, depth + 1, tone);
      const marker = ordered ? `${first + at}.` : '•';
      const isSpaced = /\n[ \t]*\n[ \t\n]*$/.test(items[at - 1]?.raw ?? '');
      return item.task
        ? { marker, checked: item.checked === true, isSpaced, blocks }
        : { marker, isSpaced, blocks };
    }),
  };
}

function toTable({ header, rows, align }: Tokens.Table): Block {
  const cells = (row: readonly Tokens.TableCell[], tone: Tone): readonly InlineLine[] =>
    row.map((cell) => toInlines(cell.tokens, tone).flat());
  return {
    type: 'table',
    align: align.map((one): Align => one ?? 'left'),
    head: cells(header, 'strong'),
    rows: rows.map((row) => cells(row, 'plain')),
    continues: false,
  };
}

/**
 * Emphasis markers in one part. The grammar tries each with each, so text with more markers than a person writes is
 * not parsed.
 */
const mostSigns = 512;
/** A line in a quote in a list in a quote … deeper than any text that is meant to be read. */
const isTooDeep = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))){9}/m;

const grammar = new Marked({ gfm: true });
// HTML is text of the paragraph around it.
grammar.use({ tokenizer: { html: () => undefined, tag: () => undefined } });

/** The blocks of one part as `marked` parses them. `undefined` if the part is built to make parsing very slow. */
function readMarkdown(part: string): readonly MarkedToken[] | undefined {
  if (isTooDeep.test(part) || part.split(/[*_~]/, mostSigns + 2).length > mostSigns + 1) return undefined;
  try {
    return grammar.lexer(part) as MarkedToken[];
  } catch {
    // The grammar throws where it would loop.
    return undefined;
  }
}

/** Characters of the longest part, and of the longest line; a longer one becomes several. */
const mostPart = 8192;

/** A piece of a text that is parsed alone. `continues`: rows of a table with its head in an earlier part. */
type Part =
  | { readonly type: 'text'; readonly text: string; readonly continues: boolean }
  | { readonly type: 'code'; readonly text: string; readonly language: string; readonly isFirst: boolean };

type Open =
  | { readonly type: 'nothing' }
  | {
      readonly type: 'text';
      readonly text: string;
      readonly isApart: boolean;
      /** A list that further items and indented lines belong to. */
      readonly list?: 'ordered' | 'bullets';
      /** Spaces that are added to the indented lines of an item: two spaces under `1.` are three in CommonMark. */
      readonly shift?: ' ' | '';
      /** The two lines (header and separator) above the rows of a table that began in a finished part. */
      readonly head?: string;
    }
  | { readonly type: 'code'; readonly fence: Fence; readonly language: string; readonly isFirst: boolean };

const nothingOpen: Open = { type: 'nothing' };

interface Step {
  readonly open: Open;
  readonly done: readonly Part[];
}

function addLine(open: Open, line: string): Step {
  if (open.type === 'code') return addCode(open, line);
  const isBlank = line.trim() === '';
  if (open.type === 'nothing') return isBlank ? { open, done: [] } : begin(line);
  if (isBlank) return { open: { ...open, text: `${open.text}\n`, isApart: true }, done: [] };
  if (!belongsTo(open, line)) {
    const next = begin(line);
    return { open: next.open, done: [...closePart(open), ...next.done] };
  }
  const list = listOf(line) ?? open.list;
  const isIndented = list !== undefined && indentOf(line) >= 2;
  const shift = isIndented
    ? (open.shift ?? (list === 'ordered' && indentOf(line) === 2 ? ' ' : ''))
    : undefined;
  const text = `${open.text === '' ? '' : `${open.text}\n`}${shift ?? ''}${line}`;
  const { shift: _shift, ...rest } = open;
  const next: Open = {
    ...rest,
    text,
    isApart: false,
    ...(list === undefined ? {} : { list }),
    ...(shift === undefined ? {} : { shift }),
  };
  if (text.length <= mostPart) return { open: next, done: [] };
  const head = open.head ?? tableHead(text);
  const after: Open = head === undefined ? nothingOpen : { type: 'text', text: '', isApart: false, head };
  return { open: after, done: closePart(next) };
}

function closePart(open: Open): readonly Part[] {
  if (open.type !== 'text' || open.text === '') return [];
  const { text, head } = open;
  return [
    { type: 'text', text: head === undefined ? text : `${head}\n${text}`, continues: head !== undefined },
  ];
}

function addCode(open: Open & { type: 'code' }, line: string): Step {
  const { fence, language, isFirst } = open;
  const end = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
  if (end !== undefined && end[0] === fence.mark[0] && end.length >= fence.mark.length)
    return { open: nothingOpen, done: [] };
  const text = line.slice(Math.min(fence.indent, indentOf(line)));
  return { open: { ...open, isFirst: false }, done: [{ type: 'code', text, language, isFirst }] };
}

function begin(line: string): Step {
  const fence = toFence(line);
  const list = listOf(line);
  const open: Open =
    fence === undefined
      ? { type: 'text', text: line, isApart: false, ...(list === undefined ? {} : { list }) }
      : { type: 'code', fence, language: languageOf(fence.info), isFirst: true };
  return { open, done: [] };
}

/** Whether a line belongs to the part that is open; a part ends at a fence, and at most empty lines. */
function belongsTo({ isApart, list }: Open & { type: 'text' }, line: string): boolean {
  if (list !== undefined && indentOf(line) >= 2) return true;
  if (toFence(line) !== undefined) return false;
  return !isApart || indentOf(line) >= 4 || (list !== undefined && listOf(line) === list);
}

function listOf(line: string): 'ordered' | 'bullets' | undefined {
  const [found, bullet] = /^ ?(?:([-+*])|\d{1,9}[.)])(?=[ \t]|$)/.exec(line) ?? [];
  if (found === undefined || /^ ?(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,})$/.test(line)) return undefined;
  return bullet === undefined ? 'ordered' : 'bullets';
}

function tableHead(text: string): string | undefined {
  const [first = '', second = ''] = text.split('\n', 2);
  const isRule = /^ {0,3}[|:\- \t]+$/.test(second) && second.includes('-') && second.includes('|');
  return first.includes('|') && isRule && first.length + second.length <= mostPart / 8
    ? `${first}\n${second}`
    : undefined;
}

interface Fence {
  readonly mark: string;
  readonly info: string;
  readonly indent: number;
}

function toFence(line: string): Fence | undefined {
  const [found, indent = '', mark = '', info = ''] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  if (found === undefined || (mark.startsWith('`') && info.includes('`'))) return undefined;
  return { mark, info: info.trim(), indent: indent.length };
}

/** Columns before the text of a line; a tab goes to the next fourth column. */
function indentOf(line: string): number {
  let columns = 0;
  for (const char of line) {
    if (char === ' ') columns += 1;
    else if (char === '\t') columns += 4 - (columns % 4);
    else break;
  }
  return columns;
}

function languageOf(info: string): string {
  return (/^[\w+#-]{1,32}/.exec(info)?.[0] ?? '').toLowerCase();
}

/** Where a line that is too long is cut: behind its last space, never within a character. */
function cutOf(line: string): number {
  const space = line.lastIndexOf(' ', mostPart - 1);
  if (space > mostPart - 256) return space + 1;
  return /[\ud800-\udbff]/.test(line[mostPart - 1] ?? '') ? mostPart - 1 : mostPart;
}

const mostInlineDepth = 16;

interface Around {
  readonly tone: Tone;
  readonly href?: string;
}

function toInlines(tokens: readonly Token[] | undefined, tone: Tone = 'plain'): readonly InlineLine[] {
  const lines: Inline[][] = [[]];
  put(tokens ?? [], { tone }, 0, lines);
  return lines;
}

function toPlainLines(text: string, tone: Tone = 'plain'): readonly InlineLine[] {
  const lines: Inline[][] = [[]];
  add(text, { tone }, lines);
  return lines;
}

function put(tokens: readonly Token[], around: Around, depth: number, lines: Inline[][]): void {
  for (const token of tokens as readonly MarkedToken[]) {
    if (depth > mostInlineDepth) add(token.raw, around, lines);
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

/** A link shows its target, unless its text already does. */
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
 * A safe link target: a web address, a mail address, or a path of this site. `undefined` for every other scheme, and
 * for text that a browser reads as another address than a person does.
 */
export function safeHref(target: string): string | undefined {
  if (target === '' || /[\x00-\x20\x7f\\]|^\/\//.test(target)) return undefined;
  const scheme = /^([^/?#:]*):/.exec(target)?.[1];
  return scheme === undefined || schemes.includes(scheme.toLowerCase()) ? target : undefined;
}
