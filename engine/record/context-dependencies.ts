import type { DigestedThing } from '../../core/interfaces/sealing.ts';
import type { PlanState } from './plan-state.ts';

/** Bytes as JSON. A bundle may have 4 MiB; what is larger than this is named by its snapshot, which lists it. */
const maxListed = 1024 * 1024;

/**
 * Context inputs of a run's attempts, for the provenance: URI and digest of each distinct item of each snapshot. If
 * there are too many items to list, returns the digests of the snapshots.
 */
export function contextDependencies({ context }: Pick<PlanState, 'context'>): readonly DigestedThing[] {
  const snapshots = [...context].sort(([a], [b]) => (a < b ? -1 : 1));
  const items = new Map<string, DigestedThing>();
  for (const [, { dependencies }] of snapshots) {
    for (const { name, ...thing } of dependencies) {
      const listed = { name: printable(name), ...thing };
      items.set(JSON.stringify(listed), listed);
    }
  }
  const size = [...items.keys()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (size <= maxListed) return [...items.values()];
  return snapshots.map(([attempt, { sha256 }]) => ({ name: `${attempt}/snapshot.json`, digest: { sha256 } }));
}

/** A path may hold what a statement may not. */
function printable(name: string): string {
  return name
    .replace(/\p{Cc}/gu, encodeURIComponent)
    .slice(0, 4096)
    .toWellFormed();
}
