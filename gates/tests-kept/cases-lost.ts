import type { InventoryCase } from '../test-cases/test-inventory.ts';
import { type KnownHelpers, knownHelpers, type MayGo, type TestChange } from './known-helpers.ts';
import { type MatchedCase, matchCases } from './match-cases.ts';
import { mergedCases } from './merged-cases.ts';
import { type CaseLoss, nameOf, type ToldLoss } from './tell-losses.ts';

/** What became of the cases that ran at the base. */
export function lostCases(changes: readonly TestChange[], mayGo: MayGo): readonly ToldLoss[] {
  const newPaths = new Map(changes.map(({ file }) => [file.oldPath ?? file.path, file.path]));
  const base = changes.flatMap(({ base }) =>
    (base?.cases ?? []).map((one) => ({ ...one, path: base?.path ?? one.path })),
  );
  const candidate = changes.flatMap((change) => change.candidate?.cases ?? []);
  const ran = base.filter((one) => !one.isIdle && one.saysAnything());
  const ways = matchCases(ran, candidate, newPaths);
  const helpers = knownHelpers(changes);
  const merged = mergedCases(ways, changes);
  return ways.flatMap((matched): ToldLoss[] => {
    const found = judgeCase(matched, helpers);
    const code = found === 'TEST_GONE' && merged.has(matched.base) ? 'TEST_MERGED' : found;
    if (code === undefined) return [];
    const { base: was, candidate: is } = matched;
    const name = nameOf(was);
    return [
      {
        code,
        severity: toldLosses.has(code) || mayGo(was.path, name) ? 'note' : 'error',
        path: is?.path ?? was.path,
        ...(is ? is.source.positionOf(is.start) : {}),
        name,
        ...(is && code === 'TEST_RENAMED' ? { now: nameOf(is) } : {}),
      },
    ];
  });
}

/** Losses that are told: what is left may judge as much. */
const toldLosses: ReadonlySet<CaseLoss> = new Set([
  'TEST_RENAMED',
  'TEST_SKIPPED_ELSEWHERE',
  'TEST_ASSERTS_LESS',
  'TEST_MERGED',
  'TEST_JUDGED_ELSEWHERE',
]);

/** The loss of one case of the base; `undefined` where it still runs and judges. */
function judgeCase({ base, candidate, isRenamed }: MatchedCase, helpers: KnownHelpers): CaseLoss | undefined {
  if (!candidate) return 'TEST_GONE';
  if (candidate.isIdle)
    return candidate.skips > base.skips || isNamedSkip(candidate) ? 'TEST_SKIPPED' : 'TEST_EMPTIED';
  if (
    candidate.needs !== undefined &&
    base.needs === undefined &&
    !helpers.isNamed(candidate.needs, candidate.path)
  )
    return 'TEST_SKIPPED';
  const isHeardLess = candidate.swallowed > base.swallowed || candidate.inverted > base.inverted;
  if (base.assertions > 0 && candidate.assertions === 0 && !helpers.judges(candidate)) {
    if (isHeardLess) return 'TEST_SWALLOWED';
    return helpers.mayJudge(candidate, base) ? 'TEST_JUDGED_ELSEWHERE' : 'TEST_EMPTIED';
  }
  if (!candidate.saysAnything()) return 'TEST_EMPTIED';
  if (isHeardLess) return 'TEST_SWALLOWED';
  if (candidate.unreached > base.unreached) return 'TEST_CUT_SHORT';
  if (candidate.skips > base.skips) return 'TEST_MAY_BE_SKIPPED';
  if (candidate.elsewhere > base.elsewhere) return 'TEST_SKIPPED_ELSEWHERE';
  if (isRenamed) return 'TEST_RENAMED';
  return candidate.judging < base.judging && !helpers.judges(candidate) ? 'TEST_ASSERTS_LESS' : undefined;
}

/** A body is left, so it is a mark that keeps it from running. */
function isNamedSkip({ assertions }: InventoryCase): boolean {
  return assertions > 0;
}
