import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { firstSeen, standAt } from './first-seen.ts';

/**
 * Leaves whoever reads a list where he is when entries come before it: the first one that he sees stays at its height.
 * `from` is another one whenever some came.
 */
export function useKeptPlace(list: RefObject<HTMLElement | null>, from: number): void {
  const known = useRef(from);
  const held = useRef<ReturnType<typeof firstSeen>>(undefined);
  // Looked at while it still stands as it was.
  if (known.current !== from) held.current = firstSeen(list.current);
  known.current = from;
  useLayoutEffect(() => {
    const place = list.current;
    const { node, top } = held.current ?? {};
    held.current = undefined;
    if (place !== null && top !== undefined && node?.isConnected) standAt(place, node, top);
  }, [from]);
}
