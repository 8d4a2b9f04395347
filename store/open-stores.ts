import type { Clock } from '../core/base/clock.ts';
import type { ObjectStore } from '../core/interfaces/store.ts';
import type { StoreBeside, StoreSource } from '../core/interfaces/store-source.ts';
import type { Slot } from '../core/kernel/slot.ts';
import type { Repository } from '../workspace/git/repository.ts';

/** Slot `store`, for whoever reads a repository without a contract that names one. */
export type Stores = Pick<Slot<StoreSource>, 'names' | 'pick'>;

/** A store of a repository, open. */
export interface OpenStore {
  readonly name: string;
  readonly objects: ObjectStore;
  /** Present for one that is no part of the repository's git. */
  readonly beside?: Pick<StoreBeside, 'list'>;
}

/** Name on what is written where no contract names an orchestrator. */
const actorId = 'writ';

/**
 * Every store that may hold something of a repository, in the order of the slot; one beside git that was never used
 * there is left out.
 */
export async function openStores(
  stores: Stores,
  repository: Repository,
  clock: Clock,
): Promise<readonly OpenStore[]> {
  const open: OpenStore[] = [];
  for (const name of stores.names) {
    const { open: openStore, beside } = await stores.pick(name);
    if (beside && !beside.isUsed(repository)) continue;
    const objects = openStore({ repository, clock, actorId });
    open.push({ name, objects, ...(beside ? { beside } : {}) });
  }
  return open;
}
