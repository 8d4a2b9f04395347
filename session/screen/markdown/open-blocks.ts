import { type Highlighter, highlightLine, openHighlighter } from '../highlight/open-highlighter.ts';
import type { Block, Item } from './block.ts';
import { openParts } from './open-parts.ts';
import type { Part } from './part.ts';
import { toBlocks } from './to-blocks.ts';

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
