import { Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import {
  type Highlighter,
  highlightCode,
  highlightLine,
  openHighlighter,
} from '../highlight/open-highlighter.ts';
import type { Tone } from '../line.ts';
import type { Align, Block, InlineLine, Item } from './block.ts';
import { mostPart, type Part } from './part.ts';
import { closeParts, nothingOpen, type Open, takeLine } from './split-parts.ts';
import { toInlines, toPlainLines } from './to-inlines.ts';

/** A text that comes in pieces, as blocks. What it becomes does not depend on how it was cut into pieces. */
export interface Blocks {
  /** Blocks that are finished by this piece, each of them once: nothing that comes later changes them. */
  push(text: string): readonly Block[];
  /** What stands open, as if the text ended here. Costs as much as the open block is long, at most some KiB. */
  live(): readonly Block[];
  /** The end of the text: what stood open is finished. */
  end(): readonly Block[];
}

/** Markdown as it comes from a model. Lists come item by item, code line by line: see `continues`. */
export function openBlocks(): Blocks {
  const parts = openParts();
  let code = openHighlighter('');
  const read = (some: readonly Part[], keep: boolean): readonly Block[] => {
    let state = code;
    const blocks = some.flatMap((part): readonly Block[] => {
      if (part.type === 'text') return toBlocks(part.text, part.continues);
      if (part.type === 'item') return toItem(part);
      const { block, next } = toCodeLine(part, part.isFirst ? openHighlighter(part.language) : state);
      state = next;
      return [block];
    });
    if (keep) code = state;
    return blocks;
  };
  return {
    push: (text) => read(parts.push(text), true),
    live: () => read(parts.live(), false),
    end: () => read(parts.live(), true),
  };
}

/** A whole text, as few blocks as it has. */
export function readBlocks(text: string): readonly Block[] {
  const blocks = openBlocks();
  return joinBlocks([...blocks.push(text), ...blocks.end()]);
}

/** Blocks of which each that continues is one with the block before it. */
export function joinBlocks(blocks: readonly Block[]): readonly Block[] {
  const groups: Block[][] = [];
  for (const block of blocks) {
    const group = groups.at(-1);
    if ('continues' in block && block.continues && group?.[0]?.type === block.type) group.push(block);
    else groups.push([block]);
  }
  return groups.map(joinGroup);
}

function joinGroup(group: readonly Block[]): Block {
  const [first] = group;
  if (first === undefined) throw new TypeError('a group holds a block');
  if (first.type === 'code')
    return { ...first, lines: group.flatMap((one) => (one.type === 'code' ? one.lines : [])) };
  if (first.type === 'list')
    return { ...first, items: group.flatMap((one) => (one.type === 'list' ? one.items : [])) };
  if (first.type === 'table')
    return { ...first, rows: group.flatMap((one) => (one.type === 'table' ? one.rows : [])) };
  return first;
}

function toItem({
  text,
  isOrdered,
  number,
  isFirst,
  isSpaced,
  isRest,
}: Part & { type: 'item' }): readonly Block[] {
  const task = isRest ? undefined : /^\[([ xX])\][ \t]+/.exec(text);
  const blocks = toBlocks(task ? text.slice(task[0].length) : text);
  const marker = isRest ? '' : isOrdered ? `${number}.` : '•';
  const item: Item = task
    ? { marker, isSpaced, blocks, checked: task[1] !== ' ' }
    : { marker, isSpaced, blocks };
  return isRest && blocks.length === 0
    ? []
    : [{ type: 'list', isOrdered, items: [item], continues: !isFirst }];
}

function toCodeLine({ text, language, isFirst }: Part & { type: 'code' }, state: Highlighter) {
  const { line, next } = highlightLine(state, text);
  const block: Block = { type: 'code', language, lines: [line], continues: !isFirst };
  return { block, next };
}

/** A text that comes in pieces, cut into parts. How it was cut into pieces makes no difference. */
interface Parts {
  /** Parts that are finished by this piece, each of them once. */
  push(text: string): readonly Part[];
  /** What stands open, as if the text ended here. */
  live(): readonly Part[];
}

function openParts(): Parts {
  let open: Open = nothingOpen;
  let begun = '';
  return {
    push(text) {
      const finished: Part[] = [];
      const take = (line: string): void => {
        const step = takeLine(open, line);
        open = step.open;
        finished.push(...step.done);
      };
      const lines = text.split('\n');
      for (const [at, piece] of lines.entries()) {
        begun += piece;
        while (begun.length > mostPart) {
          const cut = cutOf(begun);
          take(begun.slice(0, cut));
          begun = begun.slice(cut);
        }
        if (at === lines.length - 1) break;
        take(begun.endsWith('\r') ? begun.slice(0, -1) : begun);
        begun = '';
      }
      return finished;
    },
    live() {
      if (begun === '') return closeParts(open);
      const step = takeLine(open, begun.endsWith('\r') ? begun.slice(0, -1) : begun);
      return [...step.done, ...closeParts(step.open)];
    },
  };
}

/** Where a line that is too long is cut: behind its last space, in no character. */
function cutOf(line: string): number {
  const space = line.lastIndexOf(' ', mostPart - 1);
  if (space > mostPart - 256) return space + 1;
  return /[\ud800-\udbff]/.test(line[mostPart - 1] ?? '') ? mostPart - 1 : mostPart;
}

/** Quotes and lists in one another; what is deeper is shown as it is written. */
const mostDepth = 8;

/** The blocks of one part; what cannot be read as Markdown is a paragraph of its text. */
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
  if (depth > mostDepth) return [{ type: 'paragraph', lines: toPlainLines(token.raw.trimEnd(), tone) }];
  switch (token.type) {
    case 'space':
      return [];
    case 'heading':
      return [{ type: 'heading', depth: token.depth, text: toInlines(token.tokens, 'heading').flat() }];
    case 'hr':
      return [{ type: 'rule' }];
    case 'code': {
      const language = (/^[\w+#-]{1,32}/.exec(token.lang ?? '')?.[0] ?? '').toLowerCase();
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

function toList({ items, ordered, start, loose }: Tokens.List, depth: number, tone: Tone): Block {
  const first = typeof start === 'number' ? start : 1;
  return {
    type: 'list',
    isOrdered: ordered,
    continues: false,
    items: items.map((item, at): Item => {
      const blocks = toAll(item.tokens, depth + 1, tone);
      const marker = ordered ? `${first + at}.` : '•';
      const isSpaced = loose && at > 0;
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
 * Signs that open or close emphasis in one part: the grammar tries each with each. More of them than a person writes
 * are no emphasis.
 */
const mostSigns = 512;
/** A line in a quote in a list in a quote … deeper than any text that is meant to be read. */
const isTooDeep = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))){9}/m;

const grammar = new Marked({ gfm: true });
// HTML is text: what it says stands in the paragraph that it is in.
grammar.use({ tokenizer: { html: () => undefined, tag: () => undefined } });

/** The blocks of one part as `marked` reads them; nothing where it holds what is made to be read for ever. */
function readMarkdown(part: string): readonly MarkedToken[] | undefined {
  if (isTooDeep.test(part) || part.split(/[*_~]/, mostSigns + 2).length > mostSigns + 1) return undefined;
  try {
    return grammar.lexer(part) as MarkedToken[];
  } catch {
    // The grammar throws where it would loop.
    return undefined;
  }
}
