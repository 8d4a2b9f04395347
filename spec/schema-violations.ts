/* Finds violations of the spec's JSON Schema. */
import { appendPointer } from '../core/base/json-pointer.ts';
import { isRfc3339DateTime } from '../readers/documents/date-time.ts';
import { resolved, type SchemaNode, schemaRoot } from './schema-node.ts';

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
