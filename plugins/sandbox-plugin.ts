import { definePlugin } from '../core/kernel/plugin.ts';

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
      (await import('../engine/tool/sandbox/bubblewrap.ts')).bubblewrapSandbox(),
    );
    slots.sandbox.addLazy('unshare', async () =>
      (await import('../engine/tool/sandbox/unshare.ts')).unshareSandbox(),
    );
    slots.sandbox.addLazy('none', async () => (await import('../engine/tool/sandbox/none.ts')).noSandbox());
    return undefined;
  },
});
