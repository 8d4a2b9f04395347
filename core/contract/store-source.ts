import type { ObjectStore } from '../../engine/store/object-store.ts';
import type { Repository } from '../../engine/vcs/repository.ts';
import type { Clock } from '../base/clock.ts';

/** What a store is opened over. */
export interface StorePlace {
  readonly repository: Repository;
  readonly clock: Clock;
  /** Name on what is written: the Scheduler's actor id. */
  readonly actorId: string;
}

/** Opens the object store of a repository (slot `store`, by `objmodel.objectStore.backend`). */
export interface StoreSource {
  open(place: StorePlace): ObjectStore;
}
