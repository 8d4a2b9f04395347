import type { VNode } from 'preact';
import { hunksOf } from '../../../screen/hunks.ts';
import type { Page } from '../../page/page.ts';
import type { Patchset, Seen } from '../../seen.ts';
import { orderedPatches } from '../../words/ordered-patches.ts';
import { timeWords } from '../../words/time-words.ts';
import { FileDiff } from '../file-diff.ts';
import { h } from '../h.ts';
import { text } from '../text.ts';

const patchWords: Readonly<Record<Patchset['status'], string>> = {
  proposed: 'proposed: in no branch yet',
  accepted: 'accepted: committed',
  rejected: 'rejected: in no branch',
};

/** What was changed, file by file: what is held for a review first, then the newest. */
export function DiffPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined || seen.patchsets.length === 0)
    return h('p', { class: 'empty' }, 'No file was changed yet.');
  return h(
    'div',
    { class: 'diff' },
    orderedPatches(seen).map(({ patchset, isHeld, isOver }, at) =>
      h(
        'details',
        { key: patchset.id, class: 'patchset', open: at === 0 || (at < 3 && !isOver) },
        h(
          'summary',
          null,
          h('h2', null, isHeld ? 'Held for your review' : 'Patch'),
          h('span', { class: `tag tag-${patchset.status}` }, patchset.status),
          h(
            'span',
            { class: 'soft' },
            `${countWords(patchset.changes.length)} · ${timeWords(patchset.updatedAt)}`,
          ),
        ),
        h(
          'p',
          { class: 'soft' },
          isOver ? 'an attempt before: in no branch' : patchWords[patchset.status],
          ' · ',
          h('code', null, text(patchset.id)),
        ),
        filesOf(patchset, seen.reviews).map((file) =>
          h(FileDiff, {
            key: file.change.path,
            page,
            patchset,
            mayReview: patchset.status !== 'accepted' && !isOver,
            ...file,
          }),
        ),
      ),
    ),
  );
}

/** Each file with those of its hunks that can be judged. */
function filesOf(patchset: Patchset, reviews: Seen['reviews']) {
  const all = hunksOf(patchset, reviews);
  return patchset.changes.map((change) => ({
    change,
    hunks: all.filter(({ path }) => path === change.path),
  }));
}

function countWords(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}
