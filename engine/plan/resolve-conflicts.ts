import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { disjointSets, type WorkPart } from './decompose.ts';
import { WriteIndex } from './predicted-writes.ts';

type ConflictResolution = EffectiveIntentSpec['objmodel']['planGeneration']['conflictResolution'];

/** Two parts (by index) that are expected to write the same place. */
export interface WriteConflict {
  readonly before: number;
  readonly after: number;
  readonly path: string;
}

/** A part and the parts (by index) that must come before it. */
export interface OrderedPart extends WorkPart {
  readonly after: readonly number[];
}

type ResolvedConflicts =
  | { readonly ok: true; readonly parts: readonly OrderedPart[] }
  | { readonly ok: false; readonly conflicts: readonly WriteConflict[] };

/**
 * Returns pairs of parts with overlapping writes, `before` < `after`. The list is not complete, but two parts overlap
 * only if pairs connect them. Unknown writes never overlap; the merge resolves them.
 */
export function findConflicts(parts: readonly Pick<WorkPart, 'writes'>[]): readonly WriteConflict[] {
  const index = new WriteIndex();
  return parts.flatMap(({ writes }, after) => {
    if (writes === undefined) return [];
    const found = new Map<number, string>();
    for (const text of writes)
      for (const { owner, path } of index.claim(text, after)) if (!found.has(owner)) found.set(owner, path);
    return Array.from(found, ([before, path]) => ({ before, after, path })).sort(
      (a, b) => a.before - b.before,
    );
  });
}

/**
 * Resolves overlapping writes by `objmodel.planGeneration.conflictResolution`: joins connected parts, orders them
 * from the first objective to the last, or returns the conflicts.
 */
export function resolveConflicts(parts: readonly WorkPart[], how: ConflictResolution): ResolvedConflicts {
  const conflicts = findConflicts(parts);
  if (how === 'fail-fast' && conflicts.length > 0) return { ok: false, conflicts };
  if (how === 'merge-tasks') return { ok: true, parts: merged(parts, conflicts) };
  const after = new Map<number, number[]>();
  for (const conflict of conflicts) {
    const known = after.get(conflict.after);
    if (known) known.push(conflict.before);
    else after.set(conflict.after, [conflict.before]);
  }
  return { ok: true, parts: parts.map((part, at) => ({ ...part, after: after.get(at) ?? [] })) };
}

function merged(parts: readonly WorkPart[], conflicts: readonly WriteConflict[]): readonly OrderedPart[] {
  const sets = disjointSets(parts.length);
  for (const { before, after } of conflicts) sets.join(before, after);
  const groups = new Map<number, WorkPart[]>();
  for (const [at, part] of parts.entries()) {
    const first = sets.of(at);
    const known = groups.get(first);
    if (known) known.push(part);
    else groups.set(first, [part]);
  }
  return [...groups.values()].map((members) => ({
    objectives: [...new Set(members.flatMap(({ objectives }) => objectives))].sort((a, b) => a - b),
    writes: members.some(({ writes }) => writes === undefined)
      ? undefined
      : [...new Set(members.flatMap(({ writes }) => writes ?? []))],
    after: [],
  }));
}
