/* The flags of the provider `codex`. */
import type { ProviderFlag } from '../../core/interfaces/provider.ts';

export const codexFlags: readonly ProviderFlag[] = [
  { name: 'codex-bin', values: [], isPath: true, says: 'the program, where it is not the `codex` on PATH' },
  {
    name: 'codex-port',
    values: [],
    says: 'a port on the loopback of its sandbox, 1024 to 65535 (default: none; its own input and output)',
  },
  {
    name: 'plan-mode',
    values: ['true', 'false'],
    bare: 'true',
    says: 'it plans before it changes anything; until there is a plan it may only look (default: false)',
  },
];
