import type { ObjectStore } from '../core/interfaces/store.ts';
import type { StoreRefs } from './store-refs.ts';

/** Where runs are kept, and under which names. */
export interface RunStore {
  readonly objects: ObjectStore;
  readonly refs: StoreRefs;
}
