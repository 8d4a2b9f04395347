import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Page } from '../../page/page.ts';
import { refusalWords } from '../../words/refusal-words.ts';
import { dayWords } from '../../words/time-words.ts';
import { h } from '../h.ts';
import { text } from '../text.ts';

interface Thread {
  readonly id: string;
  readonly title?: string;
  readonly archived: boolean;
  readonly updatedAt: string;
}

const pageSize = 50;

/** The threads of this repository, those worked on last first. */
export function ThreadsPane({ page: { state, acts } }: { readonly page: Page }): VNode {
  const [threads, setThreads] = useState<readonly Thread[]>([]);
  const [next, setNext] = useState<number | undefined>(0);
  const [told, setTold] = useState('');
  const load = async (offset: number): Promise<void> => {
    const answer = await acts.read(`threads?limit=${pageSize}&offset=${offset}`);
    if (!answer.ok) {
      setTold(refusalWords(answer));
      return;
    }
    setTold('');
    const items = answer.value.items as readonly Thread[];
    setThreads((known) => [...(offset === 0 ? [] : known), ...items]);
    setNext(answer.value.nextOffset as number | undefined);
  };
  useEffect(() => void load(0), []);
  return h(
    'div',
    { class: 'threads' },
    h(
      'ul',
      { class: 'rows' },
      threads.map(({ id, title, archived, updatedAt }) =>
        h(
          'li',
          { key: id, class: id === state.seen?.threadId ? 'current' : '' },
          h('span', { class: 'title' }, text(title ?? 'without a word yet')),
          id === state.seen?.threadId && h('span', { class: 'tag tag-running' }, 'this one'),
          archived && h('span', { class: 'tag' }, 'archived'),
          h(
            'span',
            { class: 'soft' },
            h('time', { dateTime: updatedAt }, dayWords(updatedAt)),
            ' · ',
            h('code', null, text(id)),
          ),
        ),
      ),
    ),
    told !== '' && h('p', { class: 'bad', role: 'alert' }, text(told)),
    next !== undefined &&
      next > 0 &&
      h('button', { type: 'button', onClick: () => void load(next) }, 'Load more'),
    h(
      'p',
      { class: 'soft' },
      'One session is served at a time; ',
      h('code', null, 'writ code --resume THREAD'),
      ' goes on with another.',
    ),
  );
}
