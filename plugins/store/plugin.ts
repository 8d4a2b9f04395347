import { definePlugin } from '../../core/kernel/plugin.ts';
import { addBuiltInStores } from './built-in-stores.ts';

/** Where runs are kept, by `objmodel.objectStore.backend`. */
export const storePlugin = definePlugin({
  name: 'store',
  api: 1,
  enforces: ['objmodel.objectStore.backend=git-native', 'objmodel.objectStore.backend=external-local'],
  setup({ slots }) {
    addBuiltInStores(slots.store);
    return undefined;
  },
});
