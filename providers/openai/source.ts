import type { ProviderSource } from '../../core/contract/provider.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { chatFormat } from './chat-format.ts';

/** OpenAI, and whatever speaks its chat dialect at another base. */
export const openai: ProviderSource = {
  title: 'OpenAI',
  keys: ['OPENAI_API_KEY'],
  // Servers of one's own often want none.
  keyless: (base) => base !== openai.base,
  base: 'https://api.openai.com/v1',
  baseVariables: ['OPENAI_BASE_URL'],
  defaultModel: 'gpt-6.1-sol',
  flags: [],
  open: (setting) => wireProvider(chatFormat(setting), setting),
};
