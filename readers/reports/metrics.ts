/* Reads `metrics.json`. */
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ReportFile } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import { isTable } from '../packages/content.ts';

/** What a check measured once. */
export interface Metric {
  readonly value: number;
  readonly unit?: string;
  readonly better: 'lower' | 'higher';
}

/** The file, read for the regression gate and never as a test report. */
export const metricsFile = 'metrics.json';

/** Bounds of the file: bytes, metrics, characters of a name and of a unit. */
export const metricsBounds = { bytes: 1024 * 1024, metrics: 256, name: 128, unit: 32 };

const members: readonly string[] = ['value', 'unit', 'better'];

/**
 * Reads `metrics.json` (docs/reference/metrics.md): a flat map of name to a number, or to `{value, unit?, better?}`.
 * Neither member where the check wrote none; a file of any other shape is a finding.
 */
export function metricsOf(reports: readonly ReportFile[]): {
  readonly metrics?: ReadonlyMap<string, Metric>;
  readonly finding?: Finding;
} {
  const file = reports.find(({ name }) => name === metricsFile);
  if (!file) return {};
  const read = readMetrics(file.bytes);
  if (typeof read !== 'string') return { metrics: read };
  const finding: Finding = {
    rule: 'regression',
    severity: 'error',
    message: `\`${metricsFile}\`: ${read}`,
    detail: { code: 'METRICS_UNREADABLE' },
  };
  return { finding };
}

/** The metrics, or in words what is wrong with them. */
function readMetrics(bytes: Uint8Array): ReadonlyMap<string, Metric> | string {
  let document: unknown;
  try {
    document = parseStrictJson(bytes, { maxBytes: metricsBounds.bytes, maxDepth: 2 }).value;
  } catch (fault) {
    if (isWritError(fault)) return fault.message;
    throw fault;
  }
  if (!isTable(document)) return 'expected a map of metrics by name';
  const entries = Object.entries(document);
  if (entries.length > metricsBounds.metrics)
    return `expected at most ${metricsBounds.metrics} metrics, found ${entries.length}`;
  const metrics = new Map<string, Metric>();
  for (const [index, [name, value]] of entries.entries()) {
    if (name === '' || name.length > metricsBounds.name || /[\p{Cc}\p{Cf}]/u.test(name))
      return `expected a plain name of 1 to ${metricsBounds.name} characters for metric ${index + 1}`;
    const metric = toMetric(value);
    if (typeof metric === 'string') return `metric ${index + 1}: ${metric}`;
    metrics.set(name, metric);
  }
  return metrics;
}

function toMetric(value: unknown): Metric | string {
  if (typeof value === 'number') return { value, better: 'lower' };
  if (!isTable(value)) return 'expected a number or an object with `value`';
  if (!Object.keys(value).every((key) => members.includes(key)))
    return 'expected no members but `value`, `unit` and `better`';
  const { value: number, unit, better = 'lower' } = value;
  if (typeof number !== 'number') return 'expected a number as `value`';
  if (better !== 'lower' && better !== 'higher') return 'expected `better` to be "lower" or "higher"';
  if (unit === undefined) return { value: number, better };
  const isPlain =
    typeof unit === 'string' && unit.length <= metricsBounds.unit && !/[\p{Cc}\p{Cf}]/u.test(unit);
  return isPlain
    ? { value: number, unit, better }
    : `expected \`unit\` to be at most ${metricsBounds.unit} characters`;
}
