import type { ScanRecord } from '../../core/contract/scanner.ts';
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

/** Each scanner in one line. What it states of itself is untrusted. */
export function scannedChecks(
  stages: readonly StageRecord[],
): readonly (readonly [id: string, words: string])[] {
  return stages.flatMap(({ checks }) =>
    checks.flatMap(({ id, scan }) => (scan === undefined ? [] : [[id, toScanWords(scan)] as const])),
  );
}

function toScanWords({
  name,
  tool = name,
  version = '(no version)',
  inputs,
  reports,
  results,
}: ScanRecord): string {
  const digests = inputs.map(({ sha256 }) => sha256.slice(0, 12)).join(', ');
  const { candidate = 'none', base = 'none' } = reports;
  return `${tool} ${version}: ${results.new} new, ${results.unchanged} unchanged, ${results.absent} gone, ${results.ignored} ignored; pinned by ${digests || 'nothing'}; report ${candidate.slice(0, 12)}, at the base ${base.slice(0, 12)}`;
}
