/* Validates measured metrics against `runPolicy.metricsSchema`. */
import { messageOf, WritError } from '../../core/base/errors.ts';
import { isRecord } from '../../core/base/json-pointer.ts';

/** One metric that violates the spec's schema. */
export interface MetricViolation {
  readonly metric: string;
  readonly message: string;
}

/** Validates the metrics of one Run. An empty result reports no violation. */
type MetricsCheck = (metrics: Readonly<Record<string, number>>) => readonly MetricViolation[];

const maxMetrics = 256;
const maxSchemaCharacters = 64 * 1024;
const maxDepth = 16;
/** What points elsewhere, or names the schema for others. */
const reference =
  /^\$(?:ref|dynamicRef|recursiveRef|id|anchor|dynamicAnchor|recursiveAnchor|schema|async|vocabulary)$/;

/**
 * Compiles `runPolicy.metricsSchema`, a map of JSON Schema properties (2020-12, strict, without references). Throws
 * METRICS_SCHEMA_INVALID for any other value, before work starts. A metric that the schema names but that was not
 * measured is a violation. Metrics that the schema does not name are allowed.
 */
export async function compileMetricsSchema(schema: Readonly<Record<string, unknown>>): Promise<MetricsCheck> {
  const names = Object.keys(schema);
  if (names.length === 0) return () => [];
  refuseUnbounded(schema, names);
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    allErrors: true,
    logger: false,
    addUsedSchema: false,
  });
  const validators = new Map(
    names.map((name) => {
      const property = schema[name];
      try {
        if (typeof property !== 'boolean' && !isRecord(property)) throw new TypeError('expected a schema');
        return [name, ajv.compile(property)] as const;
      } catch (cause) {
        throw invalid(
          `\`${name}\` is no JSON Schema: ${messageOf(cause).slice(0, 500)}`,
          { metric: name },
          cause,
        );
      }
    }),
  );
  return (metrics) =>
    names.flatMap((metric): readonly MetricViolation[] => {
      const value = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined;
      if (value === undefined) return [{ metric, message: 'expected a measured value, found none' }];
      if (!Number.isFinite(value)) return [{ metric, message: 'expected a finite number' }];
      const validate = validators.get(metric);
      if (!validate || validate(value)) return [];
      const problems = (validate.errors ?? []).map(({ message }) => message ?? 'is not as expected');
      return [{ metric, message: `expected ${problems.join(', ')}, found ${value}` }];
    });
}

function refuseUnbounded(schema: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  if (names.length > maxMetrics)
    throw invalid(`expected at most ${maxMetrics} metrics, found ${names.length}`, { found: names.length });
  const pending: { value: unknown; depth: number }[] = [{ value: schema, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > maxDepth) throw invalid(`expected at most ${maxDepth} levels`, { maxDepth });
    for (const [key, inner] of Object.entries(value)) {
      if (depth > 0 && reference.test(key))
        throw invalid(`expected a schema without references, found \`${key}\``, { keyword: key });
      pending.push({ value: inner, depth: depth + 1 });
    }
  }
  const size = JSON.stringify(schema).length;
  if (size > maxSchemaCharacters)
    throw invalid(`expected at most ${maxSchemaCharacters} characters, found ${size}`, { found: size });
}

function invalid(message: string, detail: Readonly<Record<string, unknown>>, cause?: unknown): WritError {
  return new WritError('METRICS_SCHEMA_INVALID', {
    message,
    detail,
    ...(cause === undefined ? {} : { cause }),
  });
}
