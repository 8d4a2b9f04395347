import type { VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { Block } from '../../screen/markdown/block.ts';
import { type Blocks, joinBlocks, openBlocks, readBlocks } from '../../screen/markdown/open-blocks.ts';
import { BlockView } from './block-view.ts';
import { h } from './h.ts';

interface Given {
  readonly source: string;
  /** More of it comes. */
  readonly isOpen?: boolean;
}

/** What a model wrote, in Markdown. A reply that comes is read on from where it was, and drawn anew where it grew. */
export function Prose({ source, isOpen = false }: Given): VNode {
  const reading = useRef<Reading | undefined>(undefined);
  const blocks = useMemo(() => {
    if (!isOpen) return readBlocks(source);
    reading.current = readOn(reading.current, source);
    const { done, stream } = reading.current;
    return joinBlocks([...done, ...stream.live()]);
  }, [source, isOpen]);
  return h(
    'div',
    { class: 'prose' },
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
