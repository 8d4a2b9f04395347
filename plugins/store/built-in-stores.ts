/* Registers the built-in stores. */
import type { StoreSource } from '../../core/interfaces/store-source.ts';
import { createSlot, type Slot, type SlotDoor } from '../../core/kernel/slot.ts';
import type { StoreSecrets } from './s3/s3-credentials.ts';

/** Adds the built-in stores, the git store first. */
export function addBuiltInStores(slot: SlotDoor<StoreSource>, secrets: StoreSecrets): void {
  slot.addLazy('git-native', async () => (await import('./git-native-store.ts')).gitNativeSource);
  slot.addLazy('external-local', async () => (await import('./external-local-store.ts')).externalLocalSource);
  slot.addLazy('external-s3', async () => (await import('./external-s3-store.ts')).externalS3(secrets));
}

/** The built-in stores as a separate slot, for code that reads a repository without an engine. */
export function createStores(secrets: StoreSecrets): Slot<StoreSource> {
  const slot = createSlot<StoreSource>('store');
  addBuiltInStores(slot, secrets);
  slot.freeze();
  return slot;
}

export const builtInStores: Slot<StoreSource> = createStores({ env: process.env });
