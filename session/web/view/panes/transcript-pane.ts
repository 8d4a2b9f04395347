import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { groupsOf } from '../../page/keep-transcript.ts';
import type { Page } from '../../page/page.ts';
import type { Entry } from '../../seen.ts';
import { EntryView } from '../entry-view.ts';
import { h } from '../h.ts';

const groupSize = 50;
/** Pixels from the end within which somebody reads the end. */
const endPx = 48;

/** What was said, oldest first. Whoever reads its end stays there; whoever reads elsewhere is left where he is. */
export function TranscriptPane({ page: { state, acts } }: { readonly page: Page }): VNode {
  const { seen, before, paging } = state;
  const transcript = seen?.transcript ?? [];
  const list = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const top = useRef(0);
  const [hasNew, setNew] = useState(false);
  const groups = useMemo(() => groupsOf([...before, ...transcript], groupSize), [before, transcript]);
  const earlier = Math.max(0, (seen?.earlier ?? 0) - before.length);
  const last = transcript.at(-1);
  useLayoutEffect(() => {
    const place = list.current;
    if (place === null) return;
    if (isAtEnd.current) place.scrollTop = place.scrollHeight;
    else setNew(true);
  }, [last]);
  useEffect(() => {
    const place = list.current;
    if (place === null) return;
    const keep = new ResizeObserver(() => {
      if (isAtEnd.current) place.scrollTop = place.scrollHeight;
    });
    keep.observe(place);
    // What comes near the screen is drawn then, and is not as high as was thought.
    if (place.firstElementChild !== null) keep.observe(place.firstElementChild);
    return () => keep.disconnect();
  }, []);
  const toEnd = (): void => {
    if (list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  };
  return h(
    'div',
    { class: 'transcript' },
    h(
      'div',
      {
        class: 'entries',
        ref: list,
        role: 'log',
        'aria-label': 'What was said',
        'aria-live': 'off',
        tabIndex: 0,
        onScroll: ({ currentTarget }: Event) => {
          const place = currentTarget as HTMLElement;
          const isNear = place.scrollHeight - place.scrollTop - place.clientHeight < endPx;
          // Whoever leaves the end goes up; what grows below him has moved nobody.
          if (isNear) isAtEnd.current = true;
          else if (place.scrollTop < top.current) isAtEnd.current = false;
          top.current = place.scrollTop;
          if (isAtEnd.current) setNew(false);
        },
      },
      h(
        'div',
        null,
        earlier > 0 &&
          (paging === 'over'
            ? h('p', { class: 'soft' }, `${earlier} earlier entries are in the thread on disk.`)
            : h(
                'button',
                {
                  type: 'button',
                  class: 'earlier',
                  disabled: paging === 'asking',
                  onClick: () => void acts.loadEarlier(),
                },
                `Load earlier (${earlier})`,
              )),
        transcript.length === 0 && h('p', { class: 'empty' }, 'Nothing was said yet.'),
        groups.map((entries) => h(Group, { key: entries[0]?.id ?? '', entries })),
      ),
    ),
    hasNew && h('button', { type: 'button', class: 'to-end', onClick: toEnd }, 'New below'),
  );
}

/** Entries that are drawn together, and only where they are near the screen; the same ones are not looked at again. */
function Group({ entries }: { readonly entries: readonly Entry[] }): VNode {
  const drawn = useRef<{ readonly entries: readonly Entry[]; readonly view: VNode } | undefined>(undefined);
  const isSame =
    drawn.current?.entries.length === entries.length &&
    entries.every((entry, at) => entry === drawn.current?.entries[at]);
  if (drawn.current === undefined || !isSame) {
    const views = entries.map((entry) => h(EntryView, { key: entry.id, entry }));
    drawn.current = { entries, view: h('div', { class: 'group' }, views) };
  }
  return drawn.current.view;
}
