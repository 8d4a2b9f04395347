import type { Edge } from './house.ts';

/** Everything that a file reaches by imports, itself included. */
export function closure(start: string, edges: readonly Edge[]): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const path of reached) for (const edge of edges) if (edge.from === path) reached.add(edge.to);
  return reached;
}
