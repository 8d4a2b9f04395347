import type { Clock } from '../../core/base/clock.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { StoreSource } from '../../core/contract/store-source.ts';
import type { Slot } from '../../core/kernel/slot.ts';
import { schedulerOf } from '../spec/scheduler-of.ts';
import { hasLanded } from '../store/landed.ts';
import type { RunStore } from '../store/run-store.ts';
import { storeRefs } from '../store/store-refs.ts';
import type { Repository } from '../vcs/repository.ts';
import type { IntentStore } from './intent-history.ts';

/** Runs, and the intents that they are of. */
export type IntentRunStore = RunStore & IntentStore;

/** The store with what its repository says of landed commits. */
export function withLandings(repository: Repository, store: RunStore): IntentRunStore {
  return { ...store, hasLanded: (runId) => hasLanded(repository, store, runId) };
}

/**
 * The store that a contract names (slot `store`), under its `aiRefPrefix`. SLOT_UNKNOWN for a backend that no plugin
 * brings.
 */
export async function openRunStore(
  stores: Pick<Slot<StoreSource>, 'pick'>,
  repository: Repository,
  clock: Clock,
  spec: EffectiveIntentSpec,
): Promise<IntentRunStore> {
  const { objectStore } = spec.objmodel;
  const source = await stores.pick(objectStore.backend);
  return withLandings(repository, {
    objects: source.open({ repository, clock, actorId: schedulerOf(spec).id }),
    refs: storeRefs(objectStore.aiRefPrefix),
  });
}
