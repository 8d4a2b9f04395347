import type { VNode } from 'preact';
import { usageItems } from '../../screen/usage-words.ts';
import type { Seen } from '../seen.ts';
import { h } from './h.ts';

/** What was used, in the words of both screens: how full the context is, tokens, cost, its limit. */
export function UsageView({ usage }: { readonly usage: Seen['usage'] }): VNode {
  return h(
    'span',
    null,
    usageItems(usage).map(({ text, tone }, at) => [
      at > 0 && ' · ',
      h('span', { key: text, class: `tone-${tone}` }, text),
    ]),
  );
}
