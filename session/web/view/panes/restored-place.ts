import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { mostBefore } from '../../page/keep-transcript.ts';
import type { Page } from '../../page/page.ts';
import { keepPlace, type ReadingPlace, readPlace } from '../../page/reading-place.ts';
import { firstSeen, standAt } from './first-seen.ts';

/** Frames in which what comes near the screen is drawn, and is not as high as was thought. */
const settlingFrames = 8;

/**
 * Brings whoever left a long list, by a reload or for another pane, back to what he read: what lies before it is loaded
 * first. `isAtEnd` is told by whoever shows the list: its end needs no place.
 */
export function useRestoredPlace(
  list: RefObject<HTMLElement | null>,
  isAtEnd: RefObject<boolean>,
  { state: { seen, before, paging }, acts, drafts }: Page,
): void {
  const thread = seen?.threadId;
  const wanted = useRef<ReadingPlace | undefined>(undefined);
  const isFirst = useRef(true);
  if (isFirst.current) wanted.current = readPlace(drafts, thread);
  if (isFirst.current && wanted.current !== undefined) isAtEnd.current = false;
  isFirst.current = false;
  const from = useRef(before.from);
  from.current = before.from;
  useLayoutEffect(() => {
    const place = list.current;
    const { entry, top } = wanted.current ?? {};
    if (place === null || entry === undefined || top === undefined) return;
    if (entry < before.from && paging !== 'failed' && before.entries.length < mostBefore) {
      void acts.loadEarlier(entry);
      return;
    }
    wanted.current = undefined;
    const node = place.querySelectorAll('.entry')[entry - before.from];
    isAtEnd.current = node === undefined;
    if (node === undefined) place.scrollTop = place.scrollHeight;
    else
      settle(settlingFrames, () => {
        // What is not drawn yet is thought to be short: the end may seem near.
        isAtEnd.current = false;
        if (node.isConnected) standAt(place, node, top);
      });
  }, [before.from, paging]);
  // In the layout: behind it the list is gone.
  useLayoutEffect(() => {
    const place = list.current;
    const keep = (): void => {
      // On the way there it is still where it was.
      if (place === null || wanted.current !== undefined) return;
      const { node, top = 0 } = (!isAtEnd.current && firstSeen(place)) || {};
      const at = node === undefined ? -1 : [...place.querySelectorAll('.entry')].indexOf(node);
      keepPlace(drafts, thread, at < 0 ? undefined : { entry: from.current + at, top });
    };
    addEventListener('pagehide', keep);
    return () => {
      keep();
      removeEventListener('pagehide', keep);
    };
  }, [thread]);
}

function settle(frames: number, stand: () => void): void {
  stand();
  if (frames > 0) requestAnimationFrame(() => settle(frames - 1, stand));
}
