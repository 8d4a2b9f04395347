import type { ProviderSource } from '../../core/contract/provider.ts';
import { chatFormat } from '../wire/chat/chat-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { kimiDialect } from './kimi-dialect.ts';
import { kimiFlags } from './kimi-flags.ts';
import { kimiThinking } from './kimi-thinking.ts';

/**
 * Kimi of Moonshot AI. The Chinese platform (`https://api.moonshot.cn/v1`) and the plan for coding
 * (`https://api.kimi.com/coding/v1`) are other bases, with keys of their own.
 */
export const kimi: ProviderSource = {
  title: 'Kimi',
  keys: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
  base: 'https://api.moonshot.ai/v1',
  defaultModel: 'kimi-k2.7-code',
  flags: kimiFlags,
  open: (setting) => {
    const { flags, model } = setting;
    if (model !== undefined) kimiThinking(flags['kimi-thinking'], model);
    return wireProvider(chatFormat(kimiDialect(flags), setting), setting);
  },
};
