/* The snapshot as the page uses it. */
import type { Snapshot } from '../state/snapshot.ts';

/** A snapshot with the optional members that the page uses. */
export type Seen = Omit<Snapshot, 'transcript'> & {
  readonly transcript: readonly Entry[];
  readonly earlier?: number;
  readonly settings?: Readonly<Record<string, unknown>>;
};

export type Entry = Snapshot['transcript'][number];
export type Plan = Snapshot['plans'][number];
export type ToolCall = Snapshot['toolCalls'][number];
export type Patchset = Snapshot['patchsets'][number];
export type Question = Snapshot['interactions'][number];
export type QuestionOf<Kind extends Question['kind']> = Extract<Question, { readonly kind: Kind }>;

export function pendingIn({ interactions }: Pick<Seen, 'interactions'>): readonly Question[] {
  return interactions.filter(({ status }) => status === 'pending');
}
