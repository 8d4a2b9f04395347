import { type Asked, rowsOf, wordOf } from './asked.ts';

/** What a use that an approval is about would make of its file. */
export interface AskedChange {
  readonly changeType: string;
  /** Hunks of a unified diff; empty where there is none to show. */
  readonly diff: string;
  /** Lines of it that are left out. */
  readonly unshown: number;
  /** Why there is no diff. */
  readonly note: string;
}

/** The change that an approval is about, as the session looked it up; nothing where it is about something else. */
export function changeAsked({ kind, metadata }: Pick<Asked, 'kind' | 'metadata'>): AskedChange | undefined {
  const [change] = kind === 'approval' || kind === 'sandbox_approval' ? rowsOf([metadata.change]) : [];
  if (change === undefined) return undefined;
  const { changeType, diff, unshown, note } = change;
  return {
    changeType: wordOf(changeType),
    diff: wordOf(diff),
    unshown: typeof unshown === 'number' ? unshown : 0,
    note: wordOf(note),
  };
}
