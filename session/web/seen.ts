import type { Snapshot } from '../state/snapshot.ts';

/** A session as the page has it: what document 2 names, and what stands beside that where there is something to say. */
export type Seen = Omit<Snapshot, 'transcript'> & {
  readonly transcript: readonly Entry[];
  /** How many entries came before the window that is shown. */
  readonly earlier?: number;
  readonly settings?: Readonly<Record<string, unknown>>;
};

export type Entry = Snapshot['transcript'][number];
export type Plan = Snapshot['plans'][number];
export type Task = Snapshot['tasks'][number];
export type ToolCall = Snapshot['toolCalls'][number];
export type Patchset = Snapshot['patchsets'][number];
export type Question = Snapshot['interactions'][number];

/** Questions that wait for an answer, the oldest first. */
export function pendingIn({ interactions }: Pick<Seen, 'interactions'>): readonly Question[] {
  return interactions.filter(({ status }) => status === 'pending');
}
