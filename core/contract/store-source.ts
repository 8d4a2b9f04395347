import type { Clock } from '../base/clock.ts';
import type { ObjectStore } from './object-store.ts';
import type { RepositoryPlace } from './repository-place.ts';

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
}
