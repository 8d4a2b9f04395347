import type { InventoryCase } from '../test-cases/test-inventory.ts';
import type { MatchedCase } from './match-cases.ts';
import type { KnownHelpers } from './test-change.ts';

/** What became of a case that ran at the base. */
export type CaseLoss =
  | 'TEST_GONE'
  | 'TEST_RENAMED'
  | 'TEST_SKIPPED'
  | 'TEST_MAY_BE_SKIPPED'
  | 'TEST_EMPTIED'
  | 'TEST_CUT_SHORT'
  | 'TEST_SWALLOWED'
  | 'TEST_SKIPPED_ELSEWHERE'
  | 'TEST_ASSERTS_LESS'
  | 'TEST_MERGED'
  | 'TEST_JUDGED_ELSEWHERE';

/** Losses that are told: what is left may judge as much. */
export const toldLosses: ReadonlySet<CaseLoss> = new Set([
  'TEST_RENAMED',
  'TEST_SKIPPED_ELSEWHERE',
  'TEST_ASSERTS_LESS',
  'TEST_MERGED',
  'TEST_JUDGED_ELSEWHERE',
]);

/** The loss of one case of the base; `undefined` where it still runs and judges. */
export function judgeCase(
  { base, candidate, isRenamed }: MatchedCase,
  helpers: KnownHelpers,
): CaseLoss | undefined {
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
