/* The flags of the provider `ollama`. */
import type { ProviderFlag } from '../../core/interfaces/provider.ts';

export const ollamaFlags: readonly ProviderFlag[] = [
  {
    name: 'ollama-thinking',
    alias: 'thinking',
    values: ['auto', 'off', 'on', 'low', 'medium', 'high'],
    variable: 'OLLAMA_THINK',
    says: 'whether the model thinks, and how hard; `auto` leaves it to the model (default: off)',
  },
  {
    name: 'ollama-compact-tools',
    values: ['off', 'on'],
    spellings: { false: 'off', true: 'on', '0': 'off', '1': 'on' },
    bare: 'on',
    variable: 'OLLAMA_COMPACT_TOOLS',
    says: 'sends tools with flat schemas, for servers that refuse others (default: off)',
  },
];
