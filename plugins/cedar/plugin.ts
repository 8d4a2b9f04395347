import { definePlugin } from '../../plugin.ts';

/** The policy engine `cedar`, written against the public doors alone: what it does, anybody's plugin may do. */
export const cedarPlugin = definePlugin({
  name: 'cedar',
  api: 1,
  setup({ slots }) {
    const file = import.meta.url.endsWith('.ts') ? './judge.ts' : './judge.js';
    slots.policy.add('cedar', { module: new URL(file, import.meta.url) });
    return undefined;
  },
});
