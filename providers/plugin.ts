import { definePlugin } from '../core/kernel/plugin.ts';
import { builtInProviders } from './built-in-providers.ts';
import { replayName } from './replay/source.ts';

/** Every backend that comes with writ, and recordings of them; each is loaded when it is picked. */
export const providersPlugin = definePlugin({
  name: 'providers',
  api: 1,
  setup({ slots }) {
    for (const [name, load] of Object.entries(builtInProviders)) slots.provider.addLazy(name, load);
    slots.provider.addLazy(replayName, async () => (await import('./replay/source.ts')).recordings);
    return undefined;
  },
});
