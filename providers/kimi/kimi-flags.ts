/* The flags of the provider `kimi`. */
import type { ProviderFlag } from '../../core/interfaces/provider.ts';

export const kimiFlags: readonly ProviderFlag[] = [
  {
    name: 'kimi-thinking',
    values: ['enabled', 'disabled'],
    says: 'whether the model thinks before it answers; only for kimi-k2.5 and kimi-k2.6 can it be switched off',
  },
  {
    name: 'kimi-stream',
    values: ['true', 'false'],
    says: 'whether a reply comes in pieces; `true` where it is left out',
  },
];
