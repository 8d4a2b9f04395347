import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { tokenWords, usdWords } from '../../screen/usage-words.ts';
import { toSpan } from '../../screen/words/to-span.ts';
import type { Page } from '../page/page.ts';
import type { Seen } from '../seen.ts';
import { goalWayOn } from '../words/goal-way-on.ts';
import { refusalWords } from '../words/refusal-words.ts';
import { mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { text } from './text.ts';

/** What a goal is judged by, what it has used up, and why nothing is done for it where nothing is. */
export function Goal({
  page,
  goal,
}: {
  readonly page: Page;
  readonly goal: NonNullable<Seen['goal']>;
}): VNode {
  const { objective, status, criteria, loops, budget, blockReason } = goal;
  const { acts, state } = page;
  const [isAsking, ask] = useState(false);
  const cancel = async (): Promise<void> => {
    ask(false);
    const answer = await acts.write('goal/cancel', {});
    if (!answer.ok) acts.tell({ text: refusalWords(answer) });
  };
  const goOn = async (): Promise<void> => {
    const answer = await acts.say('/goal start');
    if (!answer.ok) acts.tell({ text: refusalWords(answer) });
  };
  const isOpen = status === 'active' || status === 'blocked';
  const isShut = !mayWrite(state.standing);
  const isBusy = /thinking|executing_tool|awaiting_interaction/.test(state.seen?.status ?? '');
  const way = goalWayOn(goal);
  return h(
    'section',
    { 'aria-labelledby': 'goal-head' },
    h('h2', { id: 'goal-head' }, 'Goal'),
    h('p', null, text(objective)),
    h(
      'p',
      { class: 'soft' },
      h('span', { class: `tag tag-${status}` }, status),
      ` after ${loops} ${loops === 1 ? 'run' : 'runs'}`,
      blockReason !== undefined && h('span', { class: 'warn' }, ` · ${blockReason.replaceAll('_', ' ')}`),
    ),
    h(
      'ul',
      { class: 'rows' },
      criteria.map((one) =>
        h(
          'li',
          { key: one.id },
          h('span', { class: `tag tag-${one.status}` }, one.status),
          h('span', null, text(one.text)),
          one.checks !== undefined && h('span', { class: 'soft' }, text(`by ${one.checks.join(', ')}`)),
        ),
      ),
    ),
    h(
      'dl',
      { class: 'table' },
      h(
        'div',
        null,
        h('dt', null, 'tokens'),
        h('dd', null, `${tokenWords(budget.tokens.used)} of ${tokenWords(budget.tokens.limit)}`),
      ),
      h(
        'div',
        null,
        h('dt', null, 'cost'),
        h('dd', null, `${usdWords(budget.costUsd.used)} of ${usdWords(budget.costUsd.limit)}`),
      ),
      h(
        'div',
        null,
        h('dt', null, 'time'),
        h('dd', null, `${toSpan(1000 * budget.seconds.used)} of ${toSpan(1000 * budget.seconds.limit)}`),
      ),
    ),
    way.words !== '' && h('p', { class: 'way-on' }, way.words),
    isOpen &&
      h(
        'p',
        { class: 'row' },
        way.isStart &&
          h(
            'button',
            { type: 'button', disabled: isShut || isBusy, onClick: () => void goOn() },
            'Go on with it',
          ),
        !isAsking &&
          h('button', { type: 'button', disabled: isShut, onClick: () => ask(true) }, 'Give the goal up'),
      ),
    isOpen &&
      isAsking &&
      h(
        'div',
        { class: 'second-word' },
        h(
          'p',
          { role: 'alert' },
          'Its turn is stopped, and it cannot be gone on with. What it has committed stays.',
        ),
        h(
          'p',
          { class: 'row' },
          h(
            'button',
            { type: 'button', class: 'bad', disabled: isShut, onClick: () => void cancel() },
            'Yes, give it up',
          ),
          h('button', { type: 'button', onClick: () => ask(false) }, 'Keep it'),
        ),
      ),
  );
}
