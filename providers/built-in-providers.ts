import type { ProviderSource } from '../core/interfaces/provider.ts';

/** Every backend that comes with writ, by name; each is loaded when it is picked. */
export const builtInProviders: Readonly<Record<string, () => Promise<ProviderSource>>> = {
  gemini: async () => (await import('./gemini/source.ts')).gemini,
  openai: async () => (await import('./openai/source.ts')).openai,
  anthropic: async () => (await import('./anthropic/source.ts')).anthropic,
  deepseek: async () => (await import('./chat-vendors.ts')).deepseek,
  kimi: async () => (await import('./chat-vendors.ts')).kimi,
  zhipu: async () => (await import('./chat-vendors.ts')).zhipu,
  ollama: async () => (await import('./ollama/source.ts')).ollama,
  codex: async () => (await import('./codex/source.ts')).codex,
};
