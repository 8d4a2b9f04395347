import type { ProviderSource } from '../../core/contract/provider.ts';
import { chatFormat } from '../wire/chat/chat-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';
import { zhipuDialect } from './zhipu-dialect.ts';

/**
 * GLM of Zhipu. The Chinese platform (`https://open.bigmodel.cn/api/paas/v4`) and the plans for coding
 * (`…/api/coding/paas/v4`) are other bases.
 */
export const zhipu: ProviderSource = {
  title: 'Zhipu',
  keys: ['ZHIPU_API_KEY', 'ZHIPUAI_API_KEY', 'ZAI_API_KEY', 'GLM_API_KEY'],
  base: 'https://api.z.ai/api/paas/v4',
  defaultModel: 'glm-5.3',
  flags: [],
  open: (setting) => wireProvider(chatFormat(zhipuDialect, setting), setting),
};
