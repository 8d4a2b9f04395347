import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import type { AskedPlugins } from '../../engine/run/open/asked-plugins.ts';
import { builtInStores } from '../store/built-in-stores.ts';

/**
 * What an engine with every built-in and nothing else answers, without one. `test/plugins/asked-built-ins.test.ts`
 * holds the two together.
 */
export const askedBuiltIns: AskedPlugins = {
  stores: builtInStores,
  sealingForms: async () => sealingForms,
  // No built-in changes a plan.
  redraft: async (draft) => draft,
};
