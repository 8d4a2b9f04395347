import type { ProviderSource } from '../core/contract/provider.ts';

/** Every backend that comes with writ, by name; each is loaded when it is picked. */
export const builtInProviders: Readonly<Record<string, () => Promise<ProviderSource>>> = {
  ollama: async () => (await import('./ollama/source.ts')).ollama,
  openai: async () => (await import('./openai/source.ts')).openai,
};
