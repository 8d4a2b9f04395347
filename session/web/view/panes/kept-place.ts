import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Held {
  readonly node: Element;
  readonly top: number;
}

/**
 * Leaves whoever reads a list where he is when entries come before it: the first one that he sees stays at its height.
 * `from` is another one whenever some came.
 */
export function useKeptPlace(list: RefObject<HTMLElement | null>, from: number): void {
  const known = useRef(from);
  const held = useRef<Held | undefined>(undefined);
  // Looked at while it still stands as it was.
  if (known.current !== from) held.current = firstSeen(list.current);
  known.current = from;
  useLayoutEffect(() => {
    const place = list.current;
    const { node, top } = held.current ?? {};
    held.current = undefined;
    if (place === null || node === undefined || top === undefined || !node.isConnected) return;
    place.scrollTop += node.getBoundingClientRect().top - top;
  }, [from]);
}

function firstSeen(place: HTMLElement | null): Held | undefined {
  if (place === null) return undefined;
  const { top } = place.getBoundingClientRect();
  const isSeen = (node: Element): boolean => node.getBoundingClientRect().bottom > top;
  const group = [...place.querySelectorAll('.group')].find(isSeen);
  const node = [...(group?.querySelectorAll('.entry') ?? [])].find(isSeen);
  return node === undefined ? undefined : { node, top: node.getBoundingClientRect().top };
}
