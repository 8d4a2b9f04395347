/* The provider for GLM of Zhipu. */
import type { ProviderSource } from '../../core/interfaces/provider.ts';
import { type ChatDialect, chatFormat } from '../wire/chat/chat-format.ts';
import { saidFailure } from '../wire/failures.ts';
import type { SaidFailure } from '../wire/wire-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';

/** The inner codes: arrears, quotas, rates and overloads all come as HTTP 429 (docs.z.ai, Errors). */
const words = {
  byWord: {
    1000: 'key-refused',
    1001: 'key-refused',
    1002: 'key-refused',
    1003: 'key-refused',
    1004: 'key-refused',
    1110: 'forbidden',
    1111: 'forbidden',
    1112: 'forbidden',
    1113: 'no-credit',
    1120: 'overloaded',
    1121: 'forbidden',
    1200: 'server',
    1210: 'bad-request',
    1211: 'unknown-model',
    1212: 'bad-request',
    1213: 'bad-request',
    1214: 'bad-request',
    1215: 'bad-request',
    1220: 'forbidden',
    1230: 'server',
    1234: 'server',
    1261: 'too-large',
    // Violations of its policy, and unsafe content.
    1300: 'bad-request',
    1301: 'bad-request',
    1302: 'rate-limited',
    1303: 'rate-limited',
    1304: 'quota-used-up',
    1305: 'overloaded',
    1308: 'quota-used-up',
    1309: 'no-credit',
    1310: 'quota-used-up',
    1311: 'forbidden',
    1312: 'overloaded',
    1313: 'forbidden',
  },
} as const;

/** `{error: {code: '1302', message}}`, read before the status. */
function zhipuFailure(status: number | undefined, body: unknown): SaidFailure {
  return saidFailure(words, status, body);
}

/** Models that think; the standard endpoint discards earlier thoughts unless the request keeps them. */
const thinking = /^glm-(?:4\.[5-9]|[5-9])/;
/** Models that can stream the arguments of calls; else these come as one late chunk, after minutes of silence. */
const callsInPieces = /^glm-(?:4\.[6-9]|[5-9])/;

/** Knows no `stream_options`; a stream counts its tokens anyway. Reasoning goes back unmodified. */
export const zhipuDialect: ChatDialect = {
  provider: 'zhipu',
  streams: true,
  asksForUsage: false,
  lengthField: 'max_tokens',
  namesCache: false,
  reasoningBack: () => 'where-there-is',
  own: ({ model, tools }, streams) => ({
    ...(thinking.test(model) ? { thinking: { type: 'enabled', clear_thinking: false } } : {}),
    ...(streams && tools.length > 0 && callsInPieces.test(model) ? { tool_stream: true } : {}),
  }),
  failureOf: zhipuFailure,
};

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
