import type { ProviderSource } from '../../core/contract/provider.ts';
import { chatFormat } from '../wire/chat/chat-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { deepseekDialect } from './deepseek-dialect.ts';

/** DeepSeek: the chat dialect with reasoning that has to come back. */
export const deepseek: ProviderSource = {
  title: 'DeepSeek',
  keys: ['DEEPSEEK_API_KEY'],
  base: 'https://api.deepseek.com',
  defaultModel: 'deepseek-v4-pro',
  flags: [
    {
      name: 'deepseek-thinking',
      values: ['enabled', 'disabled'],
      says: 'whether the model thinks before it answers; left out, the vendor decides',
    },
    {
      name: 'deepseek-reasoning-effort',
      values: ['low', 'medium', 'high', 'max'],
      // The vendor would take `xhigh` for `high`.
      spellings: { xhigh: 'max' },
      says: 'how long it thinks; `xhigh` is `max`',
    },
    {
      name: 'deepseek-stream',
      alias: 'stream',
      values: ['true', 'false'],
      says: 'whether a reply comes in pieces; `false` where it is left out',
    },
  ],
  open: (setting) => wireProvider(chatFormat(deepseekDialect(setting.flags), setting), setting),
};
