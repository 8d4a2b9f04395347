/* Fills in the defaults of a spec. */
import type { EffectiveIntentSpec, IntentSpec } from '../core/interfaces/intentspec.gen.ts';
import { resolved, type SchemaNode, schemaRoot } from './schema-node.ts';

/**
 * Returns the effective document: all defaults, plus two values that depend on others. `maxFrames` is derived from
 * the wall clock if absent; at high risk one Task runs at a time. The argument must be a valid document and is not
 * changed. Digests are computed from it, never from the result.
 */
export function applyDefaults(document: IntentSpec): EffectiveIntentSpec {
  const filled = fill(document, schemaRoot) as unknown as EffectiveIntentSpec;
  const { objmodel, execution, constraints, risk } = filled;
  const maxFrames =
    document.objmodel?.contextPipeline?.maxFrames ??
    Math.min(128, Math.max(1, Math.floor(constraints.resources.maxWallClockSeconds / 300)));
  const maxParallelTasks = risk.level === 'high' ? 1 : execution.concurrency.maxParallelTasks;
  return {
    ...filled,
    execution: { ...execution, concurrency: { maxParallelTasks } },
    objmodel: { ...objmodel, contextPipeline: { ...objmodel.contextPipeline, maxFrames } },
  };
}

function fill(value: unknown, node: SchemaNode): unknown {
  const target = resolved(node);
  if (target.items && Array.isArray(value)) {
    const { items } = target;
    return value.map((item) => fill(item, items));
  }
  if (!target.properties || typeof value !== 'object' || value === null) return value;
  const author = value as Readonly<Record<string, unknown>>;
  const filled: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(target.properties)) {
    const given = Object.hasOwn(author, key) ? author[key] : property.default;
    if (given !== undefined) filled[key] = fill(given, property);
  }
  return filled;
}
