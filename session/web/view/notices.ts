import type { VNode } from 'preact';
import type { Page } from '../page/page.ts';
import { h } from './h.ts';
import { text } from './text.ts';

/** What the page has to say: the link, what was refused, words that were not sent. */
export function Notices({ page: { state, acts } }: { readonly page: Page }): VNode {
  return h(
    'div',
    { class: 'notices', role: 'alert' },
    state.link === 'offline' &&
      h(
        'p',
        { class: 'notice bad' },
        'Offline: the session does not answer. What you see is its last state; what you type is kept. Trying again …',
      ),
    state.notices.map(({ id, text: said, words }) =>
      h(
        'div',
        { class: 'notice', key: id },
        h('p', null, text(said)),
        words !== undefined && h('pre', { tabIndex: 0 }, text(words)),
        h('button', { type: 'button', class: 'quiet', onClick: () => acts.dismiss(id) }, 'Dismiss'),
      ),
    ),
  );
}
