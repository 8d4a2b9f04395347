import { resolved, type SchemaNode, schemaRoot } from '../../spec/document-schema.ts';

/** One place of a document with the schema that governs it; items stand at index 0. */
export interface Place {
  readonly path: readonly (string | number)[];
  readonly node: SchemaNode;
  /** Whether the parent object requires it; `undefined` for items and the document. */
  readonly required?: boolean;
  readonly default?: unknown;
}

/** Every place that the schema of the contract knows, parents first. */
export function places(): readonly Place[] {
  return walk({ path: [], node: schemaRoot });
}

function walk(place: Place): readonly Place[] {
  const target = resolved(place.node);
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
