import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { HunkLine } from '../../screen/hunks.ts';
import { tonedLines } from '../words/hunk-lines.ts';
import { h } from './h.ts';
import { spans } from './spans.ts';
import { oneLine } from './text.ts';

interface Given {
  readonly path: string;
  readonly header: string;
  readonly lines: readonly HunkLine[];
}

const signs: Readonly<Record<HunkLine['kind'], string>> = { added: '+', removed: '-', same: ' ', note: '\\' };

/** A hunk line by line, in the tones of its language; drawn anew only where its lines are others. */
export function HunkView({ path, header, lines }: Given): VNode {
  return useMemo(() => {
    const toned = tonedLines(path, lines);
    return h(
      'pre',
      { tabIndex: 0, 'aria-label': `Changes of ${oneLine(path)}` },
      header.length > 2 && h('span', { class: 'line line-hunk' }, oneLine(header), '\n'),
      lines.map(({ kind, oldLine, newLine }, at) =>
        h(
          'span',
          { key: at, class: `line line-${kind}` },
          h('span', { class: 'number', 'data-number': newLine ?? oldLine ?? '' }),
          h('span', { class: 'sign' }, signs[kind]),
          ...spans(toned[at] ?? []),
          '\n',
        ),
      ),
    );
  }, [path, header, lines.length, JSON.stringify(lines)]);
}
