/* Markdown as elements of the page. */
import type { VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import {
  type Block,
  type Blocks,
  type InlineLine,
  type Item,
  joinBlocks,
  openBlocks,
  readBlocks,
} from '../../screen/markdown-blocks.ts';
import { h, spans } from './parts.ts';

interface Given {
  readonly source: string;
  /** More of it comes. */
  readonly isOpen?: boolean;
}

/** Markdown of a model. A streamed reply is parsed incrementally. */
export function Prose({ source, isOpen = false }: Given): VNode {
  const reading = useRef<Reading | undefined>(undefined);
  const blocks = useMemo(() => {
    if (!isOpen) return readBlocks(source);
    reading.current = readOn(reading.current, source);
    const { done, stream } = reading.current;
    return joinBlocks([...done, ...stream.live()]);
  }, [source, isOpen]);
  return h(
    'div.prose',
    blocks.map((block, at) => h(BlockView, { key: at, block })),
  );
}

interface Reading {
  readonly read: string;
  readonly stream: Blocks;
  readonly done: readonly Block[];
}

function readOn(before: Reading | undefined, source: string): Reading {
  const isMore = before !== undefined && source.startsWith(before.read);
  const stream = isMore ? before.stream : openBlocks();
  const [done, from] = isMore ? [before.done, before.read.length] : [[], 0];
  return { read: source, stream, done: [...done, ...stream.push(source.slice(from))] };
}

type Children = readonly (string | VNode)[];

/** A block of Markdown, memoized. */
function BlockView({ block }: { readonly block: Block }): VNode {
  return useMemo(() => drawBlock(block), [block]);
}

function drawBlock(block: Block): VNode {
  switch (block.type) {
    case 'heading':
      return h(`p.heading.heading-${block.depth}`, inlines(block.text));
    case 'paragraph':
      return h('p', paragraph(block.lines));
    case 'code':
      return h(
        'pre',
        { tabIndex: 0, 'aria-label': block.language === '' ? 'Code' : `Code, ${block.language}` },
        block.lines.map((line) => [...spans(line), '\n']),
      );
    case 'quote':
      return h('blockquote', block.blocks.map(drawBlock));
    case 'list':
      return h(
        block.isOrdered ? 'ol' : 'ul',
        null,
        block.items.map((item, at) =>
          h('li', { key: at, class: item.isSpaced ? 'spaced' : '' }, drawItem(item)),
        ),
      );
    case 'table':
      return drawTable(block);
    case 'rule':
      return h('hr');
  }
}

function drawItem({ marker, checked, blocks }: Item): Children {
  const box = checked === undefined ? '' : checked ? ' [x]' : ' [ ]';
  return [
    h('span.marker', { key: 'marker' }, `${marker}${box}`),
    h('div', { key: 'blocks' }, blocks.map(drawBlock)),
  ];
}

function drawTable({ head, rows, align }: Extract<Block, { type: 'table' }>): VNode {
  const cell = (tag: 'th' | 'td') => (line: InlineLine, at: number) =>
    h(tag, { key: at, class: `align-${align[at] ?? 'left'}` }, inlines(line));
  return h(
    'div.table-frame',
    { tabIndex: 0, role: 'group', 'aria-label': 'Table' },
    h(
      'table',
      h('thead', h('tr', head.map(cell('th')))),
      h(
        'tbody',
        rows.map((row, at) => h('tr', { key: at }, row.map(cell('td')))),
      ),
    ),
  );
}

function paragraph(lines: readonly InlineLine[]): Children {
  return lines.flatMap((line, at) => [...(at === 0 ? [] : [h('br', { key: `br${at}` })]), ...inlines(line)]);
}

/** A link leads to another site only; its target is in its title. */
function inlines(line: InlineLine): Children {
  return line.map(({ text, tone, href }, at) => {
    if (href !== undefined && leadsOut(href))
      return h('a', { key: at, href, rel: 'noreferrer noopener', target: '_blank', title: href }, text);
    return tone === 'plain'
      ? text
      : h(tone === 'code' ? 'code' : 'span', { key: at, class: `tone-${tone}` }, text);
  });
}

function leadsOut(href: string): boolean {
  return /^(?:https?|mailto):/i.test(href) && URL.canParse(href);
}
