import { quoted } from '../../core/base/printable.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { CitationsRecord } from '../../store/record/summaries.ts';

/** An error for each decision that rests on too few sources, and for each step without one. Pure: replayed as it is. */
export function lackingCitations({
  needed,
  steps,
  count,
  first,
}: Pick<CitationsRecord, 'needed' | 'steps' | 'count' | 'first'>): readonly Finding[] {
  if (needed === 0) return [];
  const decisions = new Map<string, Set<string>>();
  const decided = new Set<number>();
  for (const { decision, step, sources } of first) {
    const counted = decisions.get(decision) ?? new Set();
    decisions.set(decision, counted);
    for (const { source, counts } of sources) if (counts) counted.add(source);
    if (step !== undefined) decided.add(step);
  }
  const wanting = [...decisions]
    .filter(([, { size }]) => size < needed)
    .map(([decision, { size }]) => `${quoted(decision)} rests on ${size} of ${needed} sources that count`);
  const silent = Array.from({ length: steps }, (_, index) => index + 1)
    .filter((step) => !decided.has(step))
    .map((step) => `no decision is recorded for step ${step}`);
  const unjudged = count > first.length ? [`of ${count} decisions only ${first.length} are evaluated`] : [];
  return [...wanting, ...silent, ...unjudged].map((message) => ({
    rule: 'citations',
    severity: 'error',
    message,
  }));
}
