import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { groupsOf, mostBefore } from '../../page/keep-transcript.ts';
import type { Page } from '../../page/page.ts';
import type { Entry } from '../../seen.ts';
import { EntryView } from '../entry-view.ts';
import { h } from '../h.ts';
import { EarlierLine } from './earlier-line.ts';
import { useKeptPlace } from './kept-place.ts';
import { useRestoredPlace } from './restored-place.ts';

const groupSize = 50;
/** Pixels from the end within which somebody reads the end. */
const endPx = 48;
/** Pixels from the beginning within which what came before is asked for. */
const beginPx = 600;

/** What was said, oldest first. Whoever reads its end stays there; whoever reads elsewhere is left where he is. */
export function TranscriptPane({ page }: { readonly page: Page }): VNode {
  const { state, acts } = page;
  const { seen, before, paging } = state;
  const transcript = seen?.transcript ?? [];
  const list = useRef<HTMLElement | null>(null);
  const isAtEnd = useRef(true);
  const top = useRef(0);
  const wasDrawn = useRef(false);
  const [hasNew, setNew] = useState(false);
  const groups = useMemo(
    () => groupsOf([...before.entries, ...transcript], groupSize, before.from),
    [before, transcript],
  );
  const last = transcript.at(-1);
  useLayoutEffect(() => {
    const place = list.current;
    if (place === null) return;
    if (!isAtEnd.current) setNew(wasDrawn.current);
    // To ask for its height is to lay it out at once. What grows is looked at where the browser has done so by itself.
    else if (!wasDrawn.current || before.entries.length >= mostBefore) place.scrollTop = place.scrollHeight;
    wasDrawn.current = true;
  }, [last]);
  useKeptPlace(list, before.from);
  useRestoredPlace(list, isAtEnd, page);
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
        'aria-busy': paging === 'asking',
        tabIndex: 0,
        onScroll: ({ currentTarget }: Event) => {
          const place = currentTarget as HTMLElement;
          const isNear = place.scrollHeight - place.scrollTop - place.clientHeight < endPx;
          const goesUp = place.scrollTop < top.current;
          // Whoever leaves the end goes up; what grows below him has moved nobody.
          if (isNear) isAtEnd.current = true;
          else if (goesUp) isAtEnd.current = false;
          top.current = place.scrollTop;
          if (isAtEnd.current) setNew(false);
          // What failed is asked for again by whoever presses the button.
          if (goesUp && place.scrollTop < beginPx && paging === 'ready') void acts.loadEarlier();
        },
      },
      h(
        'div',
        null,
        h(EarlierLine, { state, acts, list }),
        transcript.length === 0 &&
          h(
            'p',
            { class: 'empty' },
            state.standing === 'closed'
              ? 'Nothing was said yet. What is said stands here as it comes.'
              : 'Nothing was said yet. Say what shall change, or /ask a question.',
          ),
        groups.map(({ key, entries }) => h(Group, { key, entries })),
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
