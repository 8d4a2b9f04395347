import type { Clock } from '../../core/base/clock.ts';
import type { EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import type { StoreSource } from '../../core/contract/store-source.ts';
import type { Slot } from '../../core/kernel/slot.ts';
import { schedulerOf } from '../spec/scheduler-of.ts';
import type { RunStore } from '../store/run-store.ts';
import { storeRefs } from '../store/store-refs.ts';
import type { Repository } from '../vcs/repository.ts';

/**
 * The store that a contract names (slot `store`), under its `aiRefPrefix`. SLOT_UNKNOWN for a backend that no plugin
 * brings.
 */
export async function openRunStore(
  stores: Pick<Slot<StoreSource>, 'pick'>,
  repository: Repository,
  clock: Clock,
  spec: EffectiveIntentSpec,
): Promise<RunStore> {
  const { objectStore } = spec.objmodel;
  const source = await stores.pick(objectStore.backend);
  return {
    objects: source.open({ repository, clock, actorId: schedulerOf(spec).id }),
    refs: storeRefs(objectStore.aiRefPrefix),
  };
}
