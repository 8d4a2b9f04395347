import type { Drafts } from './drafts.ts';

/** Where somebody reads in a thread. */
export interface ReadingPlace {
  /** Number of the entry at the upper edge, from 0, counted from the beginning of the thread. */
  readonly entry: number;
  /** How far below the edge it begins, px. */
  readonly top: number;
}

const keyOf = (thread: string | undefined): string => `place ${thread}`;

/** Where somebody read when this tab was left; `undefined` for the end, where whoever comes anew is. */
export function readPlace(drafts: Drafts, thread: string | undefined): ReadingPlace | undefined {
  const [, entry, top] = /^(\d{1,9}) (-?\d{1,6})$/.exec(drafts.get(keyOf(thread))) ?? [];
  return entry === undefined ? undefined : { entry: Number(entry), top: Number(top) };
}

export function keepPlace(drafts: Drafts, thread: string | undefined, place: ReadingPlace | undefined): void {
  drafts.set(keyOf(thread), place === undefined ? '' : `${place.entry} ${Math.round(place.top)}`);
}
