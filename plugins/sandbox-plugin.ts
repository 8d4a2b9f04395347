import { definePlugin } from '../core/plugin.ts';

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
    slots.sandbox.addLazy('bubblewrap', async () =>
      (await import('../core/tool/sandbox/bubblewrap.ts')).bubblewrapSandbox(),
    );
    slots.sandbox.addLazy('unshare', async () =>
      (await import('../core/tool/sandbox/unshare.ts')).unshareSandbox(),
    );
    slots.sandbox.addLazy('none', async () => (await import('../core/tool/sandbox/none.ts')).noSandbox());
    return undefined;
  },
});
