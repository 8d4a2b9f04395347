import type { VNode } from 'preact';
import { h } from './h.ts';
import { text } from './text.ts';

/** A goal as far as the session tells of it. */
export function Goal({ goal }: { readonly goal: Readonly<Record<string, unknown>> }): VNode {
  const criteria = Array.isArray(goal.criteria) ? (goal.criteria as readonly unknown[]) : [];
  return h(
    'section',
    { 'aria-labelledby': 'goal-head' },
    h('h2', { id: 'goal-head' }, 'Goal'),
    h(
      'p',
      null,
      h('span', { class: 'tag' }, text(String(goal.status ?? ''))),
      ' ',
      text(String(goal.objective ?? '')),
    ),
    criteria.length > 0 &&
      h(
        'ul',
        { class: 'rows' },
        criteria.map((one, at) => h('li', { key: at }, text(criterionWords(one)))),
      ),
    typeof goal.blockReason === 'string' && h('p', { class: 'warn' }, text(goal.blockReason)),
  );
}

function criterionWords(one: unknown): string {
  if (typeof one === 'string') return one;
  const { id, text: words, description, status } = (one ?? {}) as Readonly<Record<string, unknown>>;
  return [words ?? description ?? id, status].filter((part) => typeof part === 'string').join(' · ');
}
