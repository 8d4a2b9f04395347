/* The flags of the provider `deepseek`. */
import type { ProviderFlag } from '../../core/interfaces/provider.ts';

export const deepseekFlags: readonly ProviderFlag[] = [
  {
    name: 'deepseek-thinking',
    values: ['enabled', 'disabled'],
    says: 'whether the model thinks before it answers; left out, the vendor decides',
  },
  {
    name: 'deepseek-reasoning-effort',
    values: ['low', 'medium', 'high', 'max'],
    // The vendor would treat `xhigh` as `high`.
    spellings: { xhigh: 'max' },
    says: 'how long it thinks; `xhigh` is `max`',
  },
  {
    name: 'deepseek-stream',
    alias: 'stream',
    values: ['true', 'false'],
    says: 'whether a reply comes in pieces; `false` where it is left out',
  },
];
