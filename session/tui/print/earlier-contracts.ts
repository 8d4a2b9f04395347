import type { Line } from '../../screen/line.ts';
import { questionBody } from '../../screen/question/question-body.ts';
import type { Snapshot } from '../../state/snapshot.ts';
import type { Entry } from './printed.ts';
import type { Shape } from './shape.ts';

/**
 * Contracts that were answered before this screen opened, each by the first of these entries that came after it: they
 * are questions and no entries, and a thread that is gone on with would be read without what it is held to.
 */
export function earlierContracts(
  entries: readonly Entry[],
  { interactions }: Pick<Snapshot, 'interactions'>,
  shape: Shape,
  columns: number,
): ReadonlyMap<string, readonly Line[]> {
  const before = new Map<string, readonly Line[]>();
  const [oldest] = entries;
  for (const asked of interactions) {
    if (asked.kind !== 'intent_review_choice' || asked.status !== 'resolved') continue;
    // What came before the part that is printed is a command away, as that is.
    if (oldest === undefined || asked.requestedAt < oldest.createdAt) continue;
    const next = entries.find(({ createdAt }) => createdAt > asked.requestedAt);
    if (next === undefined) continue;
    const lines = questionBody(asked, (text) => shape.markdown(text, columns));
    before.set(next.id, [...(before.get(next.id) ?? []), [], ...lines]);
  }
  return before;
}
