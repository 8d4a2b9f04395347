import type { ObjectType } from '../../engine/store/object-shapes.ts';
import type { StoredObject } from '../../engine/store/stored-object.ts';
import type { GraphNode } from '../schemas/graph-schema.ts';
import type { Described } from './described.ts';
import type { Drawing } from './drawing.ts';
import type { Placed } from './run-parts.ts';
import type { RunRecord } from './thread-record.ts';

type Kind = GraphNode['kind'];

/** Nodes of one record, found again by what its objects call themselves. */
export interface ObjectNodes {
  /** Draws each; the answer is the node of each, where there was room for it. */
  add<T extends ObjectType>(
    kind: Kind,
    placed: readonly Placed<T>[],
    describe: (object: StoredObject<T>, folder: string) => Described,
  ): readonly (readonly [Placed<T>, string | undefined])[];
  /** The node of that kind and id; `undefined` where there is none. */
  find(kind: Kind, id: string | undefined): string | undefined;
  /**
   * The same; what the record names and does not hold is drawn as missing, where the record was read whole.
   */
  demand(kind: Kind, id: string | undefined): string | undefined;
  /** Says which node an id is. */
  keep(kind: Kind, id: string | undefined, node: string | undefined): void;
}

/** Begins with none. */
export function openObjectNodes(
  drawing: Drawing,
  { place, isWhole, problem }: Pick<RunRecord, 'place' | 'isWhole' | 'problem'>,
): ObjectNodes {
  // By kind as well: an id in the wrong place leads nowhere.
  const known = new Map<string, string>();
  const find: ObjectNodes['find'] = (kind, id) => known.get(`${kind} ${id}`);
  const keep: ObjectNodes['keep'] = (kind, id, node) => {
    if (id !== undefined && node !== undefined && find(kind, id) === undefined)
      known.set(`${kind} ${id}`, node);
  };
  return {
    find,
    keep,
    add: (kind, placed, describe) =>
      placed.map((one) => {
        const { path, folder, parsed } = one;
        const where = `${place}:${path}`;
        const shown =
          'problem' in parsed
            ? { label: `damaged ${kind}`, tags: ['damaged'], detail: `${parsed.problem}\n${where}` }
            : describe(parsed.object, folder);
        const id = drawing.add({ id: parsed.id ?? where, kind, ...shown }, where);
        keep(kind, parsed.id, id);
        return [one, id] as const;
      }),
    demand(kind, id) {
      const node = find(kind, id);
      // Of a record that was not read whole, nothing is said to be missing.
      if (node !== undefined || id === undefined || !isWhole || problem !== undefined) return node;
      const detail = `named in ${place}, and not there`;
      const shown = { id, kind, label: `missing ${kind}`, tags: ['missing'], detail };
      const missing = drawing.add(shown, `${place}#${id}`);
      keep(kind, id, missing);
      return missing;
    },
  };
}
