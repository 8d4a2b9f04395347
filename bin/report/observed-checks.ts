import type { CheckObservation, StageRecord } from '../../core/contract/stage.ts';

/** How each check was observed, in order; checks that needed no observation are left out. Reasons are untrusted. */
export function observedChecks(
  stages: readonly StageRecord[],
): readonly (readonly [id: string, words: string])[] {
  return stages.flatMap(({ checks }) =>
    checks.flatMap(({ id, observed }) =>
      observed === undefined ? [] : [[id, toObservedWords(observed)] as const],
    ),
  );
}

function toObservedWords({ by, reason }: CheckObservation): string {
  return by === 'none' ? `unobserved (${reason ?? 'no reason was given'})` : `observed by ${by}`;
}
