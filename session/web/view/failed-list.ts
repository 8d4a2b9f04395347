import type { VNode } from 'preact';
import { h } from './h.ts';
import { oneLine } from './text.ts';

/** Tests and checks that failed in a gate. */
export function FailedList({ failed }: { readonly failed: readonly string[] }): VNode {
  return h(
    'ul',
    { class: 'failed-list', 'aria-label': 'What failed' },
    failed.map((one) => h('li', { key: one }, oneLine(one))),
  );
}
