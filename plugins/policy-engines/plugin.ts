import { definePlugin } from '../../plugin.ts';

/** The built-in policy engines, written against the public plugin interface alone. */
export const policyEnginesPlugin = definePlugin({
  name: 'policy-engines',
  api: 1,
  setup({ slots }) {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    for (const engine of ['cedar', 'cel', 'rego'])
      slots.policy.add(engine, { module: new URL(`./${engine}.${extension}`, import.meta.url) });
    return undefined;
  },
});
