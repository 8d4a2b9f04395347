import type { Asserting, Statement } from './asserting-statements.ts';

/**
 * Whether one text of tests judges less than the other: statements that judge went and nothing came for them, fewer
 * came, and something that they spoke of is spoken of by none of those; or failures are swallowed where they were not.
 * Statements that say it otherwise are no loss.
 */
export function losesAssertions(was: Asserting, is: Asserting): boolean {
  if (is.swallows > was.swallows) return true;
  const gone = without(was.statements, is.statements);
  const come = without(is.statements, was.statements);
  if (gone.length <= come.length) return false;
  if (come.length === 0) return true;
  const spokenOf = new Set(come.flatMap(({ subjects }) => subjects));
  return gone.some(({ subjects }) => subjects.some((subject) => !spokenOf.has(subject)));
}

/** Whether they judge by the same statements. */
export function judgesAlike(was: Asserting, is: Asserting): boolean {
  return (
    was.swallows === is.swallows &&
    was.statements.length === is.statements.length &&
    without(was.statements, is.statements).length === 0
  );
}

function without(all: readonly Statement[], others: readonly Statement[]): readonly Statement[] {
  const left = new Map<string, number>();
  for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1);
  return all.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}
