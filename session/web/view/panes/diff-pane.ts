/* The pane Diff. */
import type { VNode } from 'preact';
import { hunksOf } from '../../../screen/hunks.ts';
import type { Page } from '../../page/page.ts';
import type { Patchset, Seen } from '../../seen.ts';
import { FileDiff } from '../file-diff.ts';
import { h, text, timeWords } from '../parts.ts';

const patchWords: Readonly<Record<Patchset['status'], string>> = {
  proposed: 'proposed: in no branch yet',
  accepted: 'accepted: committed',
  rejected: 'rejected: in no branch',
};

export function DiffPane({ page }: { readonly page: Page }): VNode {
  const { seen } = page.state;
  if (seen === undefined || seen.patchsets.length === 0) return h('p.empty', 'No file was changed yet.');
  return h(
    'div.diff',
    orderedPatches(seen).map(({ patchset, isHeld, isOver }, at) =>
      h(
        'details.patchset',
        { key: patchset.id, open: at === 0 || (at < 3 && !isOver) },
        h(
          'summary',
          h('h2', isHeld ? 'Held for your review' : 'Patch'),
          h(`span.tag.tag-${patchset.status}`, patchset.status),
          h('span.soft', `${countWords(patchset.changes.length)} · ${timeWords(patchset.updatedAt)}`),
        ),
        h(
          'p.soft',
          isOver ? 'an attempt before: in no branch' : patchWords[patchset.status],
          ' · ',
          h('code', text(patchset.id)),
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

interface OrderedPatch {
  readonly patchset: Patchset;
  readonly isHeld: boolean;
  /** A later patchset replaced this proposal, so a review would have no effect. */
  readonly isOver: boolean;
}

/** Orders patchsets: the held one first, then by their last update. */
function orderedPatches({ patchsets, held }: Pick<Seen, 'patchsets' | 'held'>): readonly OrderedPatch[] {
  const byUpdate = patchsets.toReversed().toSorted((one, other) => compare(other.updatedAt, one.updatedAt));
  const isHeld = ({ id }: Patchset): boolean => id === held?.patchset;
  const whole = byUpdate.findIndex((one) => one.status !== 'proposed' || isHeld(one));
  const ordered = byUpdate.map((patchset, at) => ({
    patchset,
    isHeld: isHeld(patchset),
    isOver: patchset.status === 'proposed' && !isHeld(patchset) && whole >= 0 && at > whole,
  }));
  return [...ordered.filter((one) => one.isHeld), ...ordered.filter((one) => !one.isHeld)];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
