import type { StoreSource } from '../../core/interfaces/store-source.ts';
import { createSlot, type Slot, type SlotDoor } from '../../core/kernel/slot.ts';

/** Adds the stores of this house, the one in git first. */
export function addBuiltInStores(slot: SlotDoor<StoreSource>): void {
  slot.addLazy('git-native', async () => (await import('./git-native-store.ts')).gitNativeSource);
  slot.addLazy('external-local', async () => (await import('./external-local-store.ts')).externalLocalSource);
}

/** The same as a slot of its own, for whoever reads a repository and needs no engine. */
export const builtInStores: Slot<StoreSource> = createSlot<StoreSource>('store');
addBuiltInStores(builtInStores);
builtInStores.freeze();
