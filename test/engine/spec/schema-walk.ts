import schema from '../../../engine/spec/intentspec.v1.schema.json' with { type: 'json' };

export interface SchemaNode {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly $defs?: Readonly<Record<string, SchemaNode>>;
}

/** One place of a document with the schema that governs it; items stand at index 0. */
export interface Place {
  readonly path: readonly (string | number)[];
  readonly node: SchemaNode;
  /** Whether the parent object requires it; `undefined` for items and the document. */
  readonly required?: boolean;
  readonly default?: unknown;
}

const root = schema as unknown as SchemaNode;

/** Every place that the schema of the contract knows, parents first. */
export function places(): readonly Place[] {
  return walk({ path: [], node: root });
}

function walk(place: Place): readonly Place[] {
  const { $ref } = place.node;
  const target = $ref === undefined ? place.node : root.$defs?.[$ref.replace('#/$defs/', '')];
  if (!target) throw new Error(`no such definition: ${$ref}`);
  const { path } = place;
  const here = { ...place, node: target };
  const members = Object.entries(target.properties ?? {}).flatMap(([key, node]) =>
    walk({
      path: [...path, key],
      node,
      required: target.required?.includes(key) ?? false,
      default: node.default,
    }),
  );
  const items = target.items ? walk({ path: [...path, 0], node: target.items }) : [];
  return [here, ...members, ...items];
}
