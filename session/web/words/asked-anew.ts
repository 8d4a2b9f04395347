import { pendingIn, type Question, type Seen } from '../seen.ts';

/** What a person reads of a question before an answer. */
const read = ['kind', 'title', 'prompt', 'description', 'metadata', 'options'] as const;

/** The question that waits in the place of `asked` and differs in nothing that was read; none: `undefined`. */
export function askedAnew(asked: Question, session: Pick<Seen, 'interactions'>): Question | undefined {
  const text = (one: Question): string => JSON.stringify(read.map((member) => one[member]));
  return pendingIn(session).find((one) => one.id !== asked.id && text(one) === text(asked));
}
