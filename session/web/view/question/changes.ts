import type { VNode } from 'preact';
import { h } from '../h.ts';
import { sentence } from '../text.ts';

/** So many lines are read at a glance. */
const atAGlance = 4;

interface Given {
  readonly label: string;
  readonly changes: readonly string[];
  /** They stand in the way. */
  readonly isBad?: true;
}

/** Lines that a person should know of before answering, below what they are; many are opened by whoever wants to. */
export function Changes({ label, changes, isBad }: Given): VNode | null {
  if (changes.length === 0) return null;
  const lines = h(
    'ul',
    { 'aria-label': label },
    changes.map((one) => h('li', { key: one }, sentence(one))),
  );
  if (changes.length > atAGlance && isBad !== true)
    return h(
      'details',
      { class: 'changes' },
      h('summary', { class: 'label' }, `${label}: ${changes.length} values`),
      lines,
    );
  return h(
    'div',
    { class: isBad ? 'changes changes-bad' : 'changes' },
    h('p', { class: 'label', 'aria-hidden': 'true' }, label),
    lines,
  );
}
