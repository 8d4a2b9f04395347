import type { VNode } from 'preact';
import { h } from './h.ts';
import { oneLine } from './text.ts';

/** Lines that are seen before anybody asks for more. */
const atOnce = 40;

const kinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'hunk' };

/** What a run changed, as its diff stands in the transcript; a long one opens where it is asked for. */
export function DiffEntry({ content }: { readonly content: string }): VNode {
  const lines = content.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return h(
    'details',
    { class: 'told-diff', open: lines.length <= atOnce },
    h('summary', null, lines.length === 1 ? '1 line' : `${lines.length} lines`),
    h(
      'pre',
      { tabIndex: 0, 'aria-label': 'What was changed' },
      lines.map((line, at) =>
        h('span', { key: at, class: `line line-${kindOf(line)}` }, oneLine(line), '\n'),
      ),
    ),
  );
}

function kindOf(line: string): string {
  if (line.startsWith('--- ') || line.startsWith('+++ ')) return 'hunk';
  return kinds[line[0] ?? ''] ?? 'same';
}
