/* The interface by which an object store is opened. */
import type { Clock } from '../base/clock.ts';
import type { ObjectStore, RepositoryPlace } from './store.ts';

/** The repository and the author of a store. */
export interface StorePlace {
  readonly repository: RepositoryPlace;
  readonly clock: Clock;
  /** Author of its writes: the Scheduler's actor id. */
  readonly actorId: string;
  /** The run's configuration. Absent: a reader, which starts no ref whose content is elsewhere. */
  readonly config?: () => Promise<Uint8Array | undefined>;
}

/** Opens the object store of a repository (slot `store`, by `objmodel.objectStore.backend`). */
export interface StoreSource {
  open(place: StorePlace): ObjectStore;
  /**
   * Data of a store outside the repository's git. Absent: its refs are the repository's refs and its versions are
   * commits, which git lists.
   */
  readonly beside?: StoreBeside;
  /** True: it is in git too, and reads what the git store wrote; a reader without a spec opens it instead. */
  readonly readsGit?: boolean;
}

/** A store with refs that git does not see. */
export interface StoreBeside {
  /** Whether this store was ever used in the repository; a cheap test. */
  isUsed(repository: Pick<StorePlace['repository'], 'commonDir'>): boolean;
  /** Every ref with its current version, sorted by name; empty if the store was never used. */
  list(
    repository: Pick<StorePlace['repository'], 'commonDir'>,
  ): Promise<readonly { readonly ref: string; readonly version: string }[]>;
}
