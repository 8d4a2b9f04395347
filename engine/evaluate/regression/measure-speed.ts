import type { CheckOutcome } from '../../../core/interfaces/check.ts';
import type { CheckBaseline, MeasuredMetric } from '../../../core/interfaces/stage.ts';
import { type Metric, metricsFile, metricsOf } from '../../../readers/reports/metrics.ts';

type Speed = NonNullable<CheckBaseline['speed']>;
type Side = 'base' | 'candidate';

const maxShown = 5;

/** One run of a check on one side. */
type RunOnce = (side: Side) => Promise<CheckOutcome>;

/**
 * Runs a check `rounds` times at the base and in the candidate, sequentially and with alternating order. A temporary
 * slowdown of the machine then affects both. If a side fails or writes no metrics, it stops early and reports that.
 */
export async function measureSpeed(run: RunOnce, rounds: number): Promise<Speed> {
  const seen: Record<Side, ReadonlyMap<string, Metric>[]> = { base: [], candidate: [] };
  for (let round = 0; round < rounds; round += 1) {
    const sides: readonly Side[] = round % 2 === 0 ? ['base', 'candidate'] : ['candidate', 'base'];
    for (const side of sides) {
      const outcome = await run(side);
      const { metrics, finding } = metricsOf(outcome.reports);
      const failed = [...outcome.findings, ...(finding ? [finding] : [])].find(
        ({ severity }) => severity === 'error',
      );
      if (failed || !metrics) {
        const reason = failed ? failed.message : `it wrote no \`${metricsFile}\``;
        return { ...compare(seen), unmeasured: { side, reason: `round ${round + 1}: ${reason}` } };
      }
      seen[side].push(metrics);
    }
  }
  return compare(seen);
}

/** Result for a check that writes metrics at the base but none in the candidate. */
export function speedLost(base: ReadonlyMap<string, Metric>): Speed {
  const shown = [...base].slice(0, maxShown).map(([name, metric]) => `\`${name}\` ${withUnit(metric)}`);
  const more = base.size > maxShown ? ` and ${base.size - maxShown} more` : '';
  const reason = `it wrote no \`${metricsFile}\`, and at the base one with ${shown.join(', ')}${more}`;
  return { measured: [], incomparable: [], onlyInCandidate: [], unmeasured: { side: 'candidate', reason } };
}

function withUnit({ value, unit }: Metric): string {
  return unit === undefined ? String(value) : `${value} ${unit}`;
}

/** The base defines each metric's unit and better direction, so the candidate cannot choose how it is measured. */
function compare({ base, candidate }: Record<Side, readonly ReadonlyMap<string, Metric>[]>): Speed {
  const [first] = base;
  const measured: MeasuredMetric[] = [];
  const incomparable: { name: string; reason: string }[] = [];
  for (const [name, expected] of first ?? []) {
    const { unit, better } = expected;
    const reason = [...base, ...candidate]
      .map((round) => mismatch(round.get(name), expected))
      .find((one) => one !== undefined);
    const valuesOf = (rounds: readonly ReadonlyMap<string, Metric>[]): number[] =>
      rounds.flatMap((round) => round.get(name)?.value ?? []);
    if (reason !== undefined) incomparable.push({ name, reason });
    else
      measured.push({
        name,
        ...(unit === undefined ? {} : { unit }),
        better,
        base: valuesOf(base),
        candidate: valuesOf(candidate),
      });
  }
  const added = new Set(candidate.flatMap((round) => [...round.keys()]).filter((name) => !first?.has(name)));
  return { measured, incomparable, onlyInCandidate: first ? [...added].slice(0, 20) : [] };
}

function mismatch(metric: Metric | undefined, expected: Metric): string | undefined {
  const { unit, better } = expected;
  if (!metric)
    return `expected it in every round, as at the base (${withUnit(expected)}), found a round without it`;
  if (metric.unit !== unit)
    return `expected the unit of the base, \`${unit ?? 'none'}\`, found \`${metric.unit ?? 'none'}\``;
  return metric.better === better
    ? undefined
    : `expected \`better\` to be "${better}" as at the base, found "${metric.better}"`;
}
