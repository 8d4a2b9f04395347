import type { Clock } from '../base/clock.ts';
import type { ObjectStore, RepositoryPlace } from './store.ts';

/** What a store is opened over. */
export interface StorePlace {
  readonly repository: RepositoryPlace;
  readonly clock: Clock;
  /** Name on what is written: the Scheduler's actor id. */
  readonly actorId: string;
}

/** Opens the object store of a repository (slot `store`, by `objmodel.objectStore.backend`). */
export interface StoreSource {
  open(place: StorePlace): ObjectStore;
  /**
   * Data of a store outside the repository's git. Absent: its refs are the repository's refs and its versions are
   * commits, which git lists.
   */
  readonly beside?: StoreBeside;
}

/** A store that keeps its refs where git does not look for any. */
export interface StoreBeside {
  /** Whether this store was ever used in the repository; a cheap test. */
  isUsed(repository: Pick<StorePlace['repository'], 'commonDir'>): boolean;
  /** Every ref, whatever its prefix, with its current version, sorted by name; empty where it was never used. */
  list(
    repository: Pick<StorePlace['repository'], 'commonDir'>,
  ): Promise<readonly { readonly ref: string; readonly version: string }[]>;
}
