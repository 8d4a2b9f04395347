import type { HelperFunction } from '../test-cases/helper-functions.ts';
import { namesFromHelpers } from './judging-names.ts';
import type { ToldLoss } from './tell-losses.ts';
import { judgingOf, type MayGo, severityOf, type TestChange } from './test-change.ts';

/**
 * Functions of test files that asserted at the base, are still there, and assert nothing any more: whoever calls them
 * judges nothing.
 */
export function emptiedHelpers(changes: readonly TestChange[], mayGo: MayGo): readonly ToldLoss[] {
  return changes.flatMap(({ base, candidate }): ToldLoss[] => {
    if (!base || !candidate) return [];
    const was = byName(base.helpers());
    if (was.size === 0) return [];
    const is = byName(candidate.helpers());
    const judging = judgingOf(candidate);
    const { path, source, code } = candidate;
    const unseen = namesFromHelpers(path, source.text, code, source.language);
    return [...was].flatMap(([name, before]): ToldLoss[] => {
      const now = is.get(name);
      if (before.assertions === 0 || !now || judging.has(name)) return [];
      const body = code.slice(now.at, Math.min(now.end, now.at + 5_000));
      const isKnown =
        before.strong > 0 &&
        ![...unseen].some((one) => !is.has(one) && new RegExp(`\\b${one}\\b`).test(body));
      return [
        {
          code: 'HELPER_EMPTIED',
          severity: isKnown ? severityOf(mayGo, path, name) : 'note',
          path,
          ...source.positionOf(now.at + Math.max(0, code.slice(now.at, now.at + 200).search(/\S/))),
          name,
        },
      ];
    });
  });
}

/** Functions of one name together. */
function byName(helpers: readonly HelperFunction[]): ReadonlyMap<string, HelperFunction> {
  const found = new Map<string, HelperFunction>();
  for (const one of helpers) {
    const known = found.get(one.name);
    found.set(
      one.name,
      known
        ? { ...known, assertions: known.assertions + one.assertions, strong: known.strong + one.strong }
        : one,
    );
  }
  return found;
}
