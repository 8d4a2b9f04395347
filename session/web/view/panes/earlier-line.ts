import type { RefObject, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { mostBefore } from '../../page/keep-transcript.ts';
import type { Page } from '../../page/page.ts';
import { h } from '../h.ts';

/** How much came before what is shown, with the button that loads it; says what was loaded to whoever does not see. */
export function EarlierLine({
  state: { before, paging, loaded },
  acts,
  list,
}: Pick<Page, 'state' | 'acts'> & { readonly list: RefObject<HTMLElement | null> }): VNode {
  const { from, entries } = before;
  const button = useRef<HTMLButtonElement>(null);
  const hadFocus = button.current !== null && document.activeElement === button.current;
  useLayoutEffect(() => {
    // Whoever pressed it stays in the list that it belonged to.
    if (from === 0 && hadFocus) list.current?.focus({ preventScroll: true });
  }, [from]);
  const isFull = entries.length >= mostBefore;
  return h(
    'div',
    null,
    h(
      'p',
      { class: 'heard', role: 'status' },
      paging === 'asking'
        ? 'Loading earlier entries.'
        : loaded > 0
          ? `${loaded} earlier ${loaded === 1 ? 'entry' : 'entries'} loaded, ${from} before them.`
          : '',
    ),
    from > 0 && isFull && h('p', { class: 'soft' }, `${from} earlier entries are in the thread on disk.`),
    from > 0 &&
      !isFull &&
      h(
        'button',
        {
          type: 'button',
          class: 'earlier',
          ref: button,
          // One that is disabled loses the focus.
          'aria-disabled': paging === 'asking',
          onClick: () => void acts.loadEarlier(),
        },
        paging === 'asking' ? 'Loading…' : `Load earlier (${from})`,
      ),
  );
}
