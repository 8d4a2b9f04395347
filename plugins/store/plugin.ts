import { definePlugin } from '../../core/kernel/plugin.ts';

/** Where runs are kept, by `objmodel.objectStore.backend`. */
export const storePlugin = definePlugin({
  name: 'store',
  api: 1,
  enforces: ['objmodel.objectStore.backend=git-native', 'objmodel.objectStore.backend=external-local'],
  setup({ slots }) {
    slots.store.addLazy(
      'git-native',
      async () => (await import('../../engine/store/git-native-store.ts')).gitNativeSource,
    );
    slots.store.addLazy(
      'external-local',
      async () => (await import('../../engine/store/external-local-store.ts')).externalLocalSource,
    );
    return undefined;
  },
});
