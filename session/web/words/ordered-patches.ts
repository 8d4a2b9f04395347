import type { Patchset, Seen } from '../seen.ts';

/** A patch with what holds of it now. */
export interface OrderedPatch {
  readonly patchset: Patchset;
  /** It waits for what a person says of it. */
  readonly isHeld: boolean;
  /** It was proposed, and another came of it: to say something of it would reach nobody. */
  readonly isOver: boolean;
}

/**
 * Patches as they are read: what is held for a review, then by when they were last told, which is not the order of
 * their first time: the same patch may be made, taken back and made again.
 */
export function orderedPatches({
  patchsets,
  held,
}: Pick<Seen, 'patchsets' | 'held'>): readonly OrderedPatch[] {
  const told = patchsets.toReversed().toSorted((one, other) => compare(other.updatedAt, one.updatedAt));
  const isHeld = ({ id }: Patchset): boolean => id === held?.patchset;
  const whole = told.findIndex((one) => one.status !== 'proposed' || isHeld(one));
  const ordered = told.map((patchset, at) => ({
    patchset,
    isHeld: isHeld(patchset),
    isOver: patchset.status === 'proposed' && !isHeld(patchset) && whole >= 0 && at > whole,
  }));
  return [...ordered.filter((one) => one.isHeld), ...ordered.filter((one) => !one.isHeld)];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
