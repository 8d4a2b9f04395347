import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import { type CheckList, checksOf } from '../checks-of.ts';
import type { Partly } from '../partly.ts';

/** Recommended time-outs are below these (document 1, Limits); the contract recommends none for release checks. */
const belowSeconds: Readonly<Partial<Record<CheckList, number>>> = {
  fastChecks: 600,
  integrationChecks: 3600,
  securityChecks: 7200,
};

/** Warns where an author writes a longer time-out than recommended; the default is not the author's word. */
export function recommendedTimeouts(spec: Partly<IntentSpec>): readonly Issue[] {
  return checksOf(spec).flatMap(({ list, path, check: { timeoutSeconds } }) => {
    const limit = belowSeconds[list];
    if (limit === undefined || timeoutSeconds === undefined || timeoutSeconds < limit) return [];
    return [
      warning(
        'SEMANTIC_TIMEOUT_RECOMMENDED',
        `${path}/timeoutSeconds`,
        `expected less than ${limit} seconds in ${list}, found ${timeoutSeconds}`,
      ),
    ];
  });
}
