/* The JSON Schema of the spec: fills in its defaults, and finds what a document violates. */
import { appendPointer } from '../core/base/json-pointer.ts';
import type { EffectiveIntentSpec, IntentSpec } from '../core/interfaces/intentspec.gen.ts';
import { isRfc3339DateTime } from '../readers/documents/date-time.ts';
import schema from './intentspec.v1.schema.json' with { type: 'json' };

/** The JSON Schema keywords (draft 2020-12) that the spec's schema uses; no others are supported. */
export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  readonly default?: unknown;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: 'date-time';
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly items?: SchemaNode;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
}

/** The complete schema of the spec. */
export const schemaRoot = schema as unknown as SchemaNode;
const definitions = schemaRoot.$defs ?? {};

/** The node itself, or the definition that it refers to: an edge refers to one at most. */
export function resolved(node: SchemaNode): SchemaNode {
  return node.$ref === undefined ? node : (definitions[node.$ref.slice('#/$defs/'.length)] ?? {});
}

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

/** One keyword of the schema that a document breaks, in the names of JSON Schema. */
export interface SchemaViolation {
  /** JSON Pointer into the document. */
  readonly at: string;
  readonly keyword: keyof SchemaNode;
  /** The keyword's value in the schema; for a missing or unknown property, its name. */
  readonly said: unknown;
}

/**
 * Finds every violation of the spec's JSON Schema (draft 2020-12) in a parsed document, as ajv would list them; at
 * most `maxViolations`. Empty if the document conforms.
 *
 * This code walks the schema beside the document. Each document would use only a fraction of a compiled validator,
 * but pay for loading all of it.
 */
export function findSchemaViolations(document: unknown): readonly SchemaViolation[] {
  const found: SchemaViolation[] = [];
  judge(document, schemaRoot, '', found);
  return found;
}

function judge(value: unknown, edge: SchemaNode, at: string, found: SchemaViolation[]): void {
  if (found.length >= maxViolations) return;
  const node = resolved(edge);
  const broken = (keyword: keyof SchemaNode, said: unknown = node[keyword]): void => {
    if (found.length < maxViolations) found.push({ at, keyword, said });
  };
  if (node.type !== undefined && !hasType(value, node.type)) broken('type');
  if (typeof value === 'string') judgeText(value, node, broken);
  if (typeof value === 'number') judgeNumber(value, node, broken);
  if (node.enum !== undefined && !node.enum.includes(value as string)) broken('enum');
  if (node.const !== undefined && node.const !== value) broken('const');
  if (Array.isArray(value)) {
    if (value.length < (node.minItems ?? 0)) broken('minItems');
    const { items } = node;
    if (items !== undefined)
      for (const [index, item] of value.entries()) judge(item, items, `${at}/${index}`, found);
  } else if (typeof value === 'object' && value !== null) {
    judgeProperties(value as Readonly<Record<string, unknown>>, node, at, found, broken);
  }
}

type Broken = (keyword: keyof SchemaNode, said?: unknown) => void;

function judgeText(value: string, node: SchemaNode, broken: Broken): void {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = node;
  // Lengths are of code points, of which there are never more than code units and never less than half as many.
  if (value.length > maxLength && lengthOf(value) > maxLength) broken('maxLength');
  if (value.length < 2 * minLength && lengthOf(value) < minLength) broken('minLength');
  if (node.pattern !== undefined && !patternOf(node.pattern).test(value)) broken('pattern');
  if (node.format !== undefined && !isRfc3339DateTime(value)) broken('format');
}

function judgeNumber(value: number, node: SchemaNode, broken: Broken): void {
  if (value > (node.maximum ?? value)) broken('maximum');
  if (value < (node.minimum ?? value)) broken('minimum');
}

function judgeProperties(
  value: Readonly<Record<string, unknown>>,
  node: SchemaNode,
  at: string,
  found: SchemaViolation[],
  broken: Broken,
): void {
  const { properties = {}, additionalProperties = true } = node;
  for (const name of node.required ?? []) if (!Object.hasOwn(value, name)) broken('required', name);
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) continue;
    if (additionalProperties === false) broken('additionalProperties', name);
    else if (additionalProperties !== true)
      judge(value[name], additionalProperties, appendPointer(at, name), found);
  }
  for (const [name, property] of Object.entries(properties))
    if (Object.hasOwn(value, name)) judge(value[name], property, appendPointer(at, name), found);
}

function hasType(value: unknown, type: NonNullable<SchemaNode['type']>): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

const patterns = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const known = patterns.get(source) ?? new RegExp(source, 'u');
  patterns.set(source, known);
  return known;
}

/** Maximum number of schema violations reported for one document. The rest is summarised in one issue. */
export const maxViolations = 5000;
