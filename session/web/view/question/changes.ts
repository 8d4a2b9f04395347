import type { VNode } from 'preact';
import { h } from '../h.ts';
import { text } from '../text.ts';

/** Lines that a person should know of before answering, below what they are; nothing where there are none. */
export function Changes({
  label,
  changes,
}: {
  readonly label: string;
  readonly changes: readonly string[];
}): VNode | null {
  if (changes.length === 0) return null;
  return h(
    'div',
    { class: 'changes' },
    h('p', { class: 'label', 'aria-hidden': 'true' }, label),
    h(
      'ul',
      { 'aria-label': label },
      changes.map((one) => h('li', { key: one }, text(one))),
    ),
  );
}
