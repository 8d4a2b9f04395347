/* The pane Threads. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Page } from '../../page/page.ts';
import { refusalWords } from '../../page/standing.ts';
import { dayWords, h, text } from '../parts.ts';

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
  const [fault, setFault] = useState('');
  const load = async (offset: number): Promise<void> => {
    const answer = await acts.read(`threads?limit=${pageSize}&offset=${offset}`);
    if (!answer.ok) {
      setFault(refusalWords(answer));
      return;
    }
    setFault('');
    const items = answer.value.items as readonly Thread[];
    setThreads((known) => [...(offset === 0 ? [] : known), ...items]);
    setNext(answer.value.nextOffset as number | undefined);
  };
  useEffect(() => void load(0), []);
  return h(
    'div.threads',
    h(
      'ul.rows',
      threads.map(({ id, title, archived, updatedAt }) =>
        h(
          'li',
          { key: id, class: id === state.seen?.threadId ? 'current' : '' },
          h('span.title', text(title ?? 'without a word yet')),
          id === state.seen?.threadId && h('span.tag.tag-running', 'this one'),
          archived && h('span.tag', 'archived'),
          h('span.soft', h('time', { dateTime: updatedAt }, dayWords(updatedAt)), ' · ', h('code', text(id))),
        ),
      ),
    ),
    fault !== '' && h('p.bad', { role: 'alert' }, text(fault)),
    next !== undefined && next > 0 && h('button', { onClick: () => void load(next) }, 'Load more'),
    h(
      'p.soft',
      'One session is served at a time; ',
      h('code', 'writ code --resume THREAD'),
      ' goes on with another.',
    ),
  );
}
