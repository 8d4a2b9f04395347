import { sha256Hex } from '../../core/base/digest.ts';
import type { Remote } from './network-git.ts';
import type { StoredRef } from './stored-ref.ts';

/** What of a run is filed together; intents and plans under their own ids. */
export type FiledKind = 'run' | 'content' | 'intent' | 'plan';

/**
 * Ref of a fetched run record kept next to ours: `<prefix>/fetched/of-<run>/<remote>/<kind>`. writ reads no ref of
 * this form by name, so it is not a second run. It is neither pushed nor fetched.
 */
export function filedRef(
  { prefix, id }: Pick<StoredRef, 'prefix' | 'id'>,
  source: string,
  kind: FiledKind,
): string {
  return `${filedStem(prefix, id)}${source}-${kind}`;
}

/** What all records of a run that came from elsewhere begin with. */
export function filedStem(prefix: string, encodedRunId: string): string {
  return `${prefix}/fetched/of-${encodedRunId}/`;
}

/** A remote in a ref name: its own may hold anything. */
export function filedSource({ address }: Pick<Remote, 'address'>): string {
  return `from-${sha256Hex(address).slice(0, 12)}`;
}
