/* Registers the built-in stores. */
import type { StoreSource } from '../../core/interfaces/store-source.ts';
import { createSlot, type Slot, type SlotDoor } from '../../core/kernel/slot.ts';

/** Adds the built-in stores, the git store first. */
export function addBuiltInStores(slot: SlotDoor<StoreSource>): void {
  slot.addLazy('git-native', async () => (await import('./git-native-store.ts')).gitNativeSource);
  slot.addLazy('external-local', async () => (await import('./external-local-store.ts')).externalLocalSource);
}

/** The built-in stores as a separate slot, for code that reads a repository without an engine. */
export const builtInStores: Slot<StoreSource> = createSlot<StoreSource>('store');
addBuiltInStores(builtInStores);
builtInStores.freeze();
