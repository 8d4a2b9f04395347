import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { readHunks, type ShownHunk } from '../../screen/hunks.ts';
import type { Page } from '../page/page.ts';
import type { Patchset } from '../seen.ts';
import { refusalWords } from '../words/refusal-words.ts';
import { mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { HunkView } from './hunk-view.ts';
import { focusOnce } from './question/leave-field.ts';
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

/** One hunk that a person may judge, and what was said of it. */
interface ReviewedHunk {
  readonly patchset: string;
  readonly path: string;
  readonly id: string;
  readonly verdict?: 'keep' | 'reject';
  readonly comment?: string;
}

const verdicts = [
  ['keep', 'Keep'],
  ['reject', 'Reject'],
] as const;

/** Keep, reject, comment: a word on one hunk. What is rejected is told to the model with its reason. */
function HunkReview({ page, hunk }: { readonly page: Page; readonly hunk: ReviewedHunk }): VNode {
  const { state, acts, drafts } = page;
  const { patchset, path, id, verdict, comment = '' } = hunk;
  const key = `hunk ${patchset} ${id}`;
  const [words, setWords] = useState(() => drafts.get(key) || comment);
  const [isOpen, open] = useState(drafts.get(key) !== '');
  // What was kept over a reload is shown, and takes no focus.
  const [isAskedFor, askFor] = useState(false);
  const [refused, setRefused] = useState('');
  const isShut = !mayWrite(state.standing);
  const say = async (said: ReviewedHunk['verdict']): Promise<void> => {
    const given = words.trim();
    const answer = await acts.write('reviews', {
      patchset,
      path,
      hunk: id,
      ...(said === undefined ? {} : { verdict: said }),
      ...(given === '' ? {} : { comment: given }),
    });
    setRefused(answer.ok ? '' : refusalWords(answer));
    if (!answer.ok) return;
    drafts.set(key, '');
    // What is rejected is told with its reason: where none was said, it is asked for.
    const wantsReason = said === 'reject' && given === '';
    if (wantsReason) askFor(true);
    open(wantsReason);
  };
  const type = ({ currentTarget }: Event): void => {
    const next = (currentTarget as HTMLInputElement).value;
    setWords(next);
    drafts.set(key, next);
  };
  const place = `of ${oneLine(path)}`;
  return h(
    'div',
    { class: 'hunk-review' },
    verdicts.map(([value, label]) =>
      h(
        'button',
        {
          key: value,
          type: 'button',
          class: `quiet verdict-${value}`,
          'aria-pressed': verdict === value,
          'aria-label': `${label} this hunk ${place}`,
          disabled: isShut,
          onClick: () => void say(value),
        },
        label,
      ),
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'aria-expanded': isOpen,
        'aria-label': `Comment on this hunk ${place}`,
        disabled: isShut,
        onClick: () => {
          askFor(true);
          open(!isOpen);
        },
      },
      'Comment',
    ),
    comment !== '' && !isOpen && h('span', { class: 'soft' }, text(comment)),
    isOpen &&
      h(
        'form',
        {
          onSubmit: (event: Event) => {
            event.preventDefault();
            void say(verdict);
          },
        },
        h('input', {
          type: 'text',
          ref: isAskedFor ? focusOnce : undefined,
          value: words,
          autocomplete: 'off',
          'aria-label': `Words on this hunk ${place}`,
          placeholder:
            verdict === 'reject'
              ? 'why? The model gets the reason; Enter sends it'
              : 'why: goes along with Keep and Reject, Enter says it alone',
          onInput: type,
        }),
      ),
    refused !== '' && h('p', { class: 'bad', role: 'alert' }, text(refused)),
  );
}
