import type { ToldLoss } from './tell-losses.ts';
import { type MayGo, severityOf, type TestChange } from './test-change.ts';

/** Rows that are given one by one. */
const rowAttribute = /\[\s*(?:InlineData|DataRow|TestCase)\s*\(|#\[\s*(?:case|TestWith)\b/g;

/** Lists from which tests are made, and of which nothing or less is left, or of which less is taken. */
export function lostRows(changes: readonly TestChange[], mayGo: MayGo): readonly ToldLoss[] {
  return changes.flatMap(({ base, candidate }): ToldLoss[] => {
    if (!base || !candidate) return [];
    const was = base.rows();
    const is = candidate.rows();
    const { path, source } = candidate;
    const severity = severityOf(mayGo, path);
    const told = (code: ToldLoss['code'], isLost: boolean, at: number, name?: string): ToldLoss => ({
      code,
      severity: isLost ? severity : 'note',
      path,
      ...source.positionOf(at),
      ...(name === undefined ? {} : { name }),
    });
    const losses: ToldLoss[] = [];
    for (const [name, before] of was.named) {
      const now = is.named.get(name);
      if (!now || now.count >= before.count) continue;
      losses.push(told('TEST_ROWS_GONE', now.count === 0, now.at, name));
    }
    const empty = is.inline.filter(({ count }) => count === 0);
    const emptyBefore = was.inline.filter(({ count }) => count === 0).length;
    for (const { at } of empty.slice(0, Math.max(0, empty.length - emptyBefore)))
      losses.push(told('TEST_ROWS_GONE', true, at));
    const given = [base, candidate].map(({ code }) => [...code.matchAll(rowAttribute)].length);
    if (
      (given[1] ?? 0) < (given[0] ?? 0) &&
      candidate.cases.length >= base.cases.length &&
      candidate.cases[0]
    )
      losses.push(told('TEST_ROWS_GONE', false, candidate.cases[0].start));
    const isSameLists = was.inline.length === is.inline.length && empty.length === emptyBefore;
    for (const [index, before] of isSameLists ? was.inline.entries() : []) {
      const now = is.inline[index];
      if (now && now.count < before.count) losses.push(told('TEST_ROWS_GONE', false, now.at));
    }
    // A list that was none before makes no test of the base.
    const isOld = ({ name }: { readonly name?: string }): boolean =>
      name === undefined
        ? was.inline.length > 0 && was.inline.length >= is.inline.length
        : (was.named.get(name)?.count ?? 0) > 0;
    const cuts = is.cuts.filter(isOld);
    const added = cuts.filter(({ at }) => source.isAdded(at));
    const more = cuts.length - was.cuts.filter(isOld).length;
    for (const { at } of added.slice(0, Math.max(0, more)))
      losses.push(told('TEST_MAY_BE_SKIPPED', true, at));
    return losses;
  });
}
