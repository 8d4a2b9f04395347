import type { ProviderSource } from '../../core/contract/provider.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { isCloud, toOllamaBase } from './ollama-base.ts';
import { ollamaFormat } from './ollama-format.ts';

/** Ollama, on this machine or another one of one's own, and the vendor's cloud. */
export const ollama: ProviderSource = {
  title: 'Ollama',
  keys: ['OLLAMA_API_KEY'],
  keyless: (base) => !isCloud(base),
  base: 'http://127.0.0.1:11434',
  baseVariables: ['OLLAMA_HOST', 'OLLAMA_BASE_URL'],
  toBase: toOllamaBase,
  defaultModel: 'qwen3-coder:30b',
  flags: [
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
  ],
  open: (setting) => wireProvider(ollamaFormat(setting), setting),
};
