import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Page } from '../page/page.ts';
import { refusalWords } from '../words/refusal-words.ts';
import { mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { focusOnce } from './question/leave-field.ts';
import { oneLine, text } from './text.ts';

/** One hunk that a person may judge, and what was said of it. */
export interface ReviewedHunk {
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
export function HunkReview({ page, hunk }: { readonly page: Page; readonly hunk: ReviewedHunk }): VNode {
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
              ? 'why? The model is told; Enter says it'
              : 'why: goes along with Keep and Reject, Enter says it alone',
          onInput: type,
        }),
      ),
    refused !== '' && h('p', { class: 'bad', role: 'alert' }, text(refused)),
  );
}
