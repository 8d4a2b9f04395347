import type { MarkedToken, Token, Tokens } from 'marked';
import { highlightCode } from '../highlight/open-highlighter.ts';
import type { Tone } from '../line.ts';
import type { Align, Block, InlineLine, Item } from './block.ts';
import { readMarkdown } from './read-markdown.ts';
import { toInlines, toPlainLines } from './to-inlines.ts';

/** Quotes and lists in one another; what is deeper is shown as it is written. */
const mostDepth = 8;

/** The blocks of one part; what cannot be read as Markdown is a paragraph of its text. */
export function toBlocks(text: string, continues = false): readonly Block[] {
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
