import type { ProviderSource } from '../../core/contract/provider.ts';
import { chatFormat } from '../wire/chat/chat-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { deepseekDialect } from './deepseek-dialect.ts';
import { deepseekFlags } from './deepseek-flags.ts';

/** DeepSeek: the chat dialect with reasoning that has to come back. */
export const deepseek: ProviderSource = {
  title: 'DeepSeek',
  keys: ['DEEPSEEK_API_KEY'],
  base: 'https://api.deepseek.com',
  defaultModel: 'deepseek-v4-pro',
  flags: deepseekFlags,
  open: (setting) => wireProvider(chatFormat(deepseekDialect(setting.flags), setting), setting),
};
