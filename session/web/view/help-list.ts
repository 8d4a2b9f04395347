import type { VNode } from 'preact';
import { commandWords, keyWords } from '../words/help-words.ts';
import { h } from './h.ts';
import { sentence } from './text.ts';

/** What can be typed here and which keys there are. */
export function HelpList({ close }: { readonly close: () => void }): VNode {
  return h(
    'div',
    { class: 'help', role: 'region', 'aria-label': 'Commands and keys', tabIndex: 0 },
    h('button', { type: 'button', class: 'quiet', onClick: close }, 'Close'),
    h(
      'dl',
      null,
      [...commandWords, ...keyWords].map(([form, says]) => [
        h('dt', { key: form }, h('code', null, form)),
        h('dd', { key: `${form} says` }, sentence(says)),
      ]),
    ),
  );
}
