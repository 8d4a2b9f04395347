/* The plugin of the built-in stores. */
import { definePlugin, type LoadedPlugin } from '../../core/kernel/plugin.ts';
import { addBuiltInStores } from './built-in-stores.ts';
import type { StoreSecrets } from './s3/s3-credentials.ts';

const backends = ['git-native', 'external-local', 'external-s3'];

/** Where runs are kept, by `objmodel.objectStore.backend`. */
export function storePlugin(secrets: StoreSecrets): LoadedPlugin {
  return definePlugin({
    name: 'store',
    api: 1,
    enforces: backends.map((name) => `objmodel.objectStore.backend=${name}`),
    setup({ slots }) {
      addBuiltInStores(slots.store, secrets);
      return undefined;
    },
  });
}
