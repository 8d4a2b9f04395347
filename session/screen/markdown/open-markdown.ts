import type { Line } from '../line.ts';
import type { Block } from './block.ts';
import { blockLines, isSeparate } from './block-lines.ts';
import { openBlocks } from './open-blocks.ts';

/** A text that comes in pieces, as lines of a terminal. */
export interface MarkdownStream {
  /** Lines that are finished by this piece: they can be printed, and nothing that comes later changes them. */
  push(text: string): readonly Line[];
  /** What stands open, as if the text ended here; other lines take its place with the next piece. */
  live(): readonly Line[];
  /** The end of the text: its last lines. */
  end(): readonly Line[];
}

/** Markdown as it comes from a model, at the width that the terminal has when lines are asked for. */
export function openMarkdown(columns: () => number): MarkdownStream {
  const blocks = openBlocks();
  let before: Block | undefined;
  const read = (some: readonly Block[], keep: boolean): readonly Line[] => {
    let last = before;
    const lines = some.flatMap((block) => {
      const isApart = last !== undefined && isSeparate(last, block);
      last = block;
      const own = blockLines(block, columns());
      return isApart ? [[], ...own] : own;
    });
    if (keep) before = last;
    return lines;
  };
  return {
    push: (text) => read(blocks.push(text), true),
    live: () => read(blocks.live(), false),
    end: () => read(blocks.end(), true),
  };
}

/** A whole text as lines of at most so many columns. */
export function markdownLines(text: string, { columns }: { readonly columns: number }): readonly Line[] {
  const stream = openMarkdown(() => columns);
  return [...stream.push(text), ...stream.end()];
}
