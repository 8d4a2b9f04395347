import type { CheckList } from './check-list.ts';
import { hasLevel } from './predicates/level.ts';
import type { SummaryClaims } from './predicates/read-summary.ts';
import { refuted } from './report.ts';

/** What a consumer asks of a verification summary: by whom, about what, how high. */
export interface SummaryDemands {
  readonly verifierId?: string;
  readonly resourceUri?: string;
  /** Each must be claimed, or a higher one of its track. */
  readonly levels: readonly string[];
}

/** The check ids of what is asked for. */
export function summaryChecks({ verifierId, resourceUri, levels }: SummaryDemands): readonly string[] {
  return [
    ...(verifierId === undefined ? [] : ['verifier-id']),
    ...(resourceUri === undefined ? [] : ['resource-uri']),
    ...levels.map((level) => `level:${level}`),
  ];
}

/**
 * Holds a summary to what is asked for, letter by letter. Without one that holds, nothing of it is answered
 * (`missing`).
 */
export async function judgeSummary(
  list: CheckList,
  demands: SummaryDemands,
  summary: SummaryClaims | undefined,
): Promise<void> {
  if (summary === undefined) {
    for (const id of summaryChecks(demands))
      list.settle(id, 'missing', 'missing', { expected: 'a verification summary (VSA) that holds' });
    return;
  }
  const { verifierId, resourceUri, levels } = demands;
  const same = (id: string, expected: string | undefined, found: string): Promise<unknown> | undefined =>
    expected === undefined
      ? undefined
      : list.judge(id, () => {
          if (found !== expected) throw refuted('mismatch', { expected, found });
        });
  await same('verifier-id', verifierId, summary.verifierId);
  await same('resource-uri', resourceUri, summary.resourceUri);
  for (const level of levels)
    await list.judge(`level:${level}`, () => {
      if (!hasLevel(summary.levels, level))
        throw refuted('policy-deny', { expected: level, found: summary.levels });
    });
}
