/** The first entry that is seen of a list, and how far below the upper edge of the list it begins, px. */
export function firstSeen(
  place: HTMLElement | null,
): { readonly node: Element; readonly top: number } | undefined {
  if (place === null) return undefined;
  const { top } = place.getBoundingClientRect();
  const isSeen = (node: Element): boolean => node.getBoundingClientRect().bottom > top;
  const group = [...place.querySelectorAll('.group')].find(isSeen);
  const node = [...(group?.querySelectorAll('.entry') ?? [])].find(isSeen);
  return node === undefined ? undefined : { node, top: node.getBoundingClientRect().top - top };
}

/** Moves a list so that an entry begins so far below its upper edge. */
export function standAt(place: HTMLElement, node: Element, top: number): void {
  place.scrollTop += node.getBoundingClientRect().top - place.getBoundingClientRect().top - top;
}
