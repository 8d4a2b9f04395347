import type { MatchedCase } from './match-cases.ts';
import type { InventoryCase } from './test-inventory.ts';

/** What became of a case that ran at the base. */
export type CaseLoss =
  | 'TEST_GONE'
  | 'TEST_RENAMED'
  | 'TEST_SKIPPED'
  | 'TEST_MAY_BE_SKIPPED'
  | 'TEST_EMPTIED'
  | 'TEST_CUT_SHORT';

/** The loss of one case of the base; `undefined` where it still runs and judges. */
export function judgeCase({ base, candidate, isRenamed }: MatchedCase): CaseLoss | undefined {
  if (!candidate) return 'TEST_GONE';
  if (candidate.isIdle)
    return candidate.skips > base.skips || isNamedSkip(candidate) ? 'TEST_SKIPPED' : 'TEST_EMPTIED';
  if (base.assertions > 0 && candidate.assertions === 0 && !candidate.callsHelper()) return 'TEST_EMPTIED';
  if (!candidate.saysAnything()) return 'TEST_EMPTIED';
  if (candidate.unreached > base.unreached) return 'TEST_CUT_SHORT';
  if (candidate.skips > base.skips) return 'TEST_MAY_BE_SKIPPED';
  return isRenamed ? 'TEST_RENAMED' : undefined;
}

/** A body is left, so it is a mark that keeps it from running. */
function isNamedSkip({ assertions }: InventoryCase): boolean {
  return assertions > 0;
}
