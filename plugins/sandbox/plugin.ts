import { definePlugin } from '../../core/kernel/plugin.ts';

/** The sandbox back ends, best first. */
export const sandboxPlugin = definePlugin({
  name: 'sandbox',
  api: 1,
  enforces: [
    'constraints.security.networkPolicy=deny',
    'constraints.security.networkPolicy=allow',
    'toolRule.constraints.networkHosts',
    'toolRule.constraints.networkReason',
  ],
  setup({ slots }) {
    slots.sandbox.addLazy('bubblewrap', async () => (await import('./bubblewrap.ts')).bubblewrapSandbox());
    slots.sandbox.addLazy('unshare', async () => (await import('./unshare.ts')).unshareSandbox());
    slots.sandbox.addLazy('none', async () => (await import('./none.ts')).noSandbox());
    return undefined;
  },
});
