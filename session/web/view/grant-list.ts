import type { VNode } from 'preact';
import type { Page } from '../page/page.ts';
import { mayWrite } from '../words/standing.ts';
import { h } from './h.ts';
import { text } from './text.ts';

/** What is pre-approved now, with the time that is left, and a way to take each back. */
export function GrantList({ page: { state, acts } }: { readonly page: Page }): VNode {
  const isShut = !mayWrite(state.standing);
  return h(
    'div',
    { id: 'grants', class: 'grants', role: 'group', 'aria-label': 'Approvals that are live' },
    state.grants.length === 0
      ? h('p', { class: 'soft' }, 'Nothing is pre-approved: what the policy does not let go is asked about.')
      : h(
          'ul',
          null,
          state.grants.map(({ id, kind, what, cwd, secondsLeft }) =>
            h(
              'li',
              { key: id },
              h('code', null, text(what)),
              h(
                'span',
                { class: 'soft' },
                `${kind} · in `,
                text(cwd),
                secondsLeft === undefined ? ' · until writ ends' : ` · ${Math.ceil(secondsLeft)} s left`,
              ),
              h(
                'button',
                { type: 'button', disabled: isShut, onClick: () => void acts.revoke(id) },
                'Revoke',
              ),
            ),
          ),
        ),
  );
}
