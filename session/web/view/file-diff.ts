import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { readHunks, type ShownHunk } from '../../screen/hunks.ts';
import type { Page } from '../page/page.ts';
import type { Patchset } from '../seen.ts';
import { h } from './h.ts';
import { HunkReview } from './hunk-review.ts';
import { HunkView } from './hunk-view.ts';
import { oneLine, text } from './text.ts';

interface Given {
  readonly page: Page;
  readonly patchset: Patchset;
  readonly change: Patchset['changes'][number];
  /** The hunks of this file that can be reviewed, with what was said of them. */
  readonly hunks: readonly ShownHunk[];
  readonly mayReview: boolean;
}

/** One file of a patch, hunk by hunk; what may still be judged can be judged where it stands. */
export function FileDiff({ page, change, hunks, mayReview }: Given): VNode {
  const { path, changeType, diff = '', unshown = 0 } = change;
  // What was told before hunks had names is only shown.
  const plain = useMemo(() => readWhole(diff), [diff]);
  const shown = hunks.length > 0 ? hunks : plain;
  const [added, removed] = ['added', 'removed'].map((kind) =>
    shown.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0),
  );
  return h(
    'section',
    { class: 'file', 'aria-label': oneLine(path) },
    h(
      'h3',
      null,
      h('span', { class: `tag tag-${changeType}` }, text(changeType)),
      h('code', null, oneLine(path)),
      shown.length > 0 &&
        h(
          'span',
          { class: 'counts' },
          h('span', { class: 'good' }, `+${added}`),
          ' ',
          h('span', { class: 'bad' }, `−${removed}`),
        ),
    ),
    shown.map(({ header, lines }, at) => {
      const hunk = hunks[at];
      return h(
        'div',
        { key: hunk?.id ?? at, class: `hunk ${hunk?.verdict === undefined ? '' : `hunk-${hunk.verdict}`}` },
        h(HunkView, { path, header, lines }),
        hunk !== undefined && mayReview && h(HunkReview, { page, hunk }),
        hunk?.comment !== undefined && !mayReview && h('p', { class: 'soft' }, text(hunk.comment)),
      );
    }),
    unshown > 0 && h('p', { class: 'soft unshown' }, `and ${unshown} more hunks: writ show has all of them`),
  );
}

/** The hunks of a diff; one without a header is one hunk. */
function readWhole(diff: string): ReturnType<typeof readHunks> {
  if (diff === '') return [];
  return diff.startsWith('@@') ? readHunks(diff) : readHunks(`@@\n${diff}`);
}
