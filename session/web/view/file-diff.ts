import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import type { Patchset } from '../seen.ts';
import { diffLines } from '../words/diff-lines.ts';
import { h } from './h.ts';
import { text } from './text.ts';

interface Given {
  readonly page: Page;
  readonly patchset: Patchset;
  readonly change: Patchset['changes'][number];
}

/** One file of a patch, line by line. */
export function FileDiff({ change }: Given): VNode {
  const { path, changeType, diff } = change;
  return useMemo(() => {
    const lines = diffLines(diff ?? '');
    const [added, removed] = ['added', 'removed'].map(
      (kind) => lines.filter((line) => line.kind === kind).length,
    );
    return h(
      'section',
      { class: 'file', 'aria-label': path },
      h(
        'h3',
        null,
        h('span', { class: `tag tag-${changeType}` }, text(changeType)),
        h('code', null, text(path)),
        lines.length > 0 &&
          h(
            'span',
            { class: 'counts' },
            h('span', { class: 'good' }, `+${added}`),
            ' ',
            h('span', { class: 'bad' }, `−${removed}`),
          ),
      ),
      lines.length > 0 &&
        h(
          'pre',
          { tabIndex: 0, 'aria-label': `Changes of ${path}` },
          lines.map(({ kind, text: line }, at) =>
            h('span', { key: at, class: `line line-${kind}` }, text(line), '\n'),
          ),
        ),
    );
  }, [path, changeType, diff]);
}
