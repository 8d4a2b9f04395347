/* The rule `regression`. */
import type { Finding } from '../../core/interfaces/finding.ts';
import type { RuleFunction } from '../../core/interfaces/rule.ts';
import {
  type CheckBaseline,
  type CheckRecord,
  type MeasuredMetric,
  mustPass,
} from '../../core/interfaces/stage.ts';

const rule = 'regression';

/** Fraction of the base's median by which a metric may be worse, per level of `maxAllowedRegression`. */
const tolerances = { none: 0, low: 0.05, medium: 0.2 };

type Speed = NonNullable<CheckBaseline['speed']>;

/**
 * Reports results of an integration check that are worse than at the base: tests that failed only in the candidate,
 * and metrics. A metric counts if its median is worse by more than the allowed level and by more than the noise of
 * the base's own rounds. An error if the check is required, otherwise a warning.
 */
export const judge: RuleFunction = ({ spec, stage }) => {
  const level = spec.acceptance.qualityGates.maxAllowedRegression;
  return (stage?.checks ?? []).flatMap((check) => [
    ...failureFindings(check, level),
    ...(check.baseline?.speed ? speedFindings(check, check.baseline.speed, level) : []),
  ]);
};

function failureFindings(check: CheckRecord, level: keyof typeof tolerances): readonly Finding[] {
  const failure = check.baseline?.failure;
  if (!failure) return [];
  const { outcome, reason, newFailures } = failure;
  const detail = { check: check.id, outcome, level, ...(newFailures ? { newFailures } : {}) };
  const named = newFailures?.length ? `: ${newFailures.map((name) => `\`${name}\``).join(', ')}` : '';
  const words = {
    regression: `is a regression: ${reason}${named}`,
    'old-failure': `is an old failure: ${reason}${level === 'none' ? '; `none` tolerates no failure' : ''}`,
    unknown: `cannot be distinguished from a regression: ${reason}`,
  };
  const severity = outcome === 'regression' && mustPass(check) ? 'error' : 'warning';
  return [{ rule, severity, message: `the failure of check \`${check.id}\` ${words[outcome]}`, detail }];
}

function speedFindings(check: CheckRecord, speed: Speed, level: keyof typeof tolerances): readonly Finding[] {
  const { measured, incomparable, onlyInCandidate, unmeasured } = speed;
  const severity = mustPass(check) ? 'error' : 'warning';
  const findings: Finding[] = [];
  if (unmeasured) {
    const isOurs = unmeasured.side === 'candidate';
    findings.push({
      rule,
      severity: isOurs ? severity : 'warning',
      message: `check \`${check.id}\` could not be measured ${isOurs ? 'in the candidate' : 'at the base'}: ${unmeasured.reason}`,
      detail: { check: check.id, side: unmeasured.side },
    });
    return findings;
  }
  for (const { name, reason } of incomparable)
    findings.push({
      rule,
      severity,
      message: `metric \`${name}\` of check \`${check.id}\` cannot be compared: ${reason}`,
      detail: { check: check.id, metric: name },
    });
  for (const metric of measured) {
    const found = worse(metric, level);
    if (!found) continue;
    const { base, candidate, allowed } = found;
    const unit = metric.unit === undefined ? '' : ` ${metric.unit}`;
    const message = `metric \`${metric.name}\` of check \`${check.id}\`: expected at most ${shown(allowed)}${unit} worse than ${shown(base)}${unit} at the base, found ${shown(candidate)}${unit}`;
    findings.push({
      rule,
      severity,
      message,
      detail: { check: check.id, metric: metric.name, level, rounds: metric.base.length, ...found },
    });
  }
  if (onlyInCandidate.length > 0) {
    const names = onlyInCandidate.map((name) => `\`${name}\``).join(', ');
    const message = `check \`${check.id}\` has metrics that the base has not: ${names}`;
    findings.push({ rule, severity: 'note', message, detail: { check: check.id } });
  }
  return findings;
}

/** Medians, and by how much the candidate's may be worse; `undefined` where it is not worse by more. */
function worse(
  metric: MeasuredMetric,
  level: keyof typeof tolerances,
): { readonly base: number; readonly candidate: number; readonly allowed: number } | undefined {
  const base = median(metric.base);
  const candidate = median(metric.candidate);
  // The base's own noise: what the candidate does cannot widen it.
  const noise = Math.max(...metric.base) - Math.min(...metric.base);
  const allowed = Math.max(tolerances[level] * Math.abs(base), noise);
  const loss = metric.better === 'lower' ? candidate - base : base - candidate;
  // Sums of decimals differ in their last bits.
  const rounding = 1e-9 * Math.abs(base);
  return loss > allowed + rounding ? { base, candidate, allowed } : undefined;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function shown(value: number): string {
  return String(Number(value.toPrecision(6)));
}
