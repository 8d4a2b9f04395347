import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import type { RunPlugins } from '../../engine/open/open-parties.ts';
import { builtInStores } from '../store/built-in-stores.ts';

/**
 * Gives the same plugin information as an engine with only the built-ins, without opening one.
 * `test/plugins/preview-plugins.test.ts` keeps both equal.
 */
export const builtInsFor: RunPlugins = {
  stores: builtInStores,
  sealingForms: async () => sealingForms,
  // No built-in changes a plan.
  redraft: async (draft) => draft,
};
