import type { VNode } from 'preact';
import { h } from './h.ts';
import { text } from './text.ts';

/** A command for a terminal, and what it is for. */
export function Command({ words, command }: { readonly words: string; readonly command: string }): VNode {
  return h(
    'p',
    { class: 'to-type' },
    h('code', { tabIndex: 0 }, text(command)),
    h('span', { class: 'soft' }, words),
  );
}
