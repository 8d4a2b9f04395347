import type { ProviderSource } from '../../core/contract/provider.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { isCloud, toOllamaBase } from './ollama-base.ts';
import { ollamaFlags } from './ollama-flags.ts';
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
  flags: ollamaFlags,
  open: (setting) => wireProvider(ollamaFormat(setting), setting),
};
