/* The JSON Schema keywords that the spec's schema uses. */
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
