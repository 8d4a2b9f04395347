import { definePlugin } from '../core/kernel/plugin.ts';
import { builtInProviders } from './built-in-providers.ts';

/** Every backend that comes with writ, each loaded when it is picked. */
export const providersPlugin = definePlugin({
  name: 'providers',
  api: 1,
  setup({ slots }) {
    for (const [name, load] of Object.entries(builtInProviders)) slots.provider.addLazy(name, load);
    return undefined;
  },
});
