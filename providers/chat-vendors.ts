/* The providers for DeepSeek, Kimi and GLM, whose APIs are dialects of one chat format. */
import { WritError } from '../core/base/errors.ts';
import { quoted } from '../core/base/printable.ts';
import type { ProviderSource } from '../core/interfaces/provider.ts';
import { flagTable } from './flags.ts';
import { type ChatDialect, chatFormat } from './wire/chat/chat-format.ts';
import { saidFailure } from './wire/failures.ts';
import type { Json } from './wire/wire-format.ts';
import { wireProvider } from './wire/wire-provider.ts';

const deepseekWords = {
  byWord: {},
  byMessage: [[/\bmaximum context length\b/i, 'too-large']],
} as const;

/**
 * The model thinks unless thinking is disabled. Every assistant message must then include its reasoning, or an empty
 * one if there was none; otherwise the vendor refuses the request (HTTP 400).
 */
export function deepseekDialect(flags: Readonly<Record<string, string>>): ChatDialect {
  const thinking = flags['deepseek-thinking'];
  const effort = flags['deepseek-reasoning-effort'];
  const thinks = thinking !== 'disabled';
  return {
    provider: 'deepseek',
    streams: flags['deepseek-stream'] === 'true',
    asksForUsage: true,
    lengthField: 'max_tokens',
    namesCache: false,
    reasoningBack: () => (thinks ? 'always' : 'never'),
    noTemperature: (model) => (thinks ? `${quoted(model)} takes no notice of it while it thinks` : undefined),
    own: () => ({
      ...(thinking === undefined ? {} : { thinking: { type: thinking } }),
      ...(effort === undefined || !thinks ? {} : { reasoning_effort: effort }),
    }),
    notices:
      effort === undefined || thinks
        ? []
        : [
            '`--deepseek-reasoning-effort` is left out: `--deepseek-thinking disabled` leaves nothing to think',
          ],
    failureOf: (status, body) => saidFailure(deepseekWords, status, body),
  };
}

/** DeepSeek: the chat dialect with reasoning that has to come back. */
export const deepseek: ProviderSource = {
  title: 'DeepSeek',
  keys: ['DEEPSEEK_API_KEY'],
  base: 'https://api.deepseek.com',
  defaultModel: 'deepseek-v4-pro',
  flags: flagTable.deepseek,
  open: (setting) => wireProvider(chatFormat(deepseekDialect(setting.flags), setting), setting),
};

/** How a family of Kimi's models thinks. */
interface ThinkingHabits {
  readonly models: RegExp;
  readonly thinks: 'as-told' | 'always' | 'never';
  /** Whether it knows the field `thinking`. */
  readonly hasField: boolean;
}

/** Any other model is unknown: the flag is passed on, and thinking cannot be disabled. */
const unknownModel: Omit<ThinkingHabits, 'models'> = { thinks: 'always', hasField: true };

const kimiFamilies: readonly ThinkingHabits[] = [
  { models: /^kimi-k2\.[56](?:-|$)/, thinks: 'as-told', hasField: true },
  { models: /^kimi-k2\.7(?:-|$)/, thinks: 'always', hasField: true },
  { models: /^kimi-k3/, thinks: 'always', hasField: false },
  { models: /^moonshot-/, thinks: 'never', hasField: false },
];

/** `--kimi-thinking` for one model. */
interface KimiThinking {
  readonly thinks: boolean;
  readonly field: Json;
}

/** Applies `--kimi-thinking` to a model. Throws PROVIDER_OPTION if the model does not support the value. */
function kimiThinking(flag: string | undefined, model: string): KimiThinking {
  const { thinks, hasField } = kimiFamilies.find(({ models }) => models.test(model)) ?? unknownModel;
  const does = thinks === 'as-told' ? flag !== 'disabled' : thinks === 'always';
  if (flag !== undefined && does !== (flag === 'enabled')) {
    const would = flag === 'disabled' ? '`kimi-k2.6` or `kimi-k2.5`' : 'a `kimi-` model';
    throw new WritError('PROVIDER_OPTION', {
      message: `\`--kimi-thinking ${flag}\` does not go with the model ${quoted(model)}, which ${does ? 'always' : 'never'} thinks`,
      detail: { flag: 'kimi-thinking', provider: 'kimi', model, found: flag },
      hints: [`leave \`--kimi-thinking\` out, or take ${would} with \`--model\``],
    });
  }
  return { thinks: does, field: flag === undefined || !hasField ? {} : { thinking: { type: flag } } };
}

const kimiWords = {
  byWord: {
    invalid_authentication_error: 'key-refused',
    incorrect_api_key_error: 'key-refused',
    // Comes as 429 and as 403.
    exceeded_current_quota_error: 'no-credit',
    permission_denied_error: 'forbidden',
    resource_not_found_error: 'unknown-model',
    engine_overloaded_error: 'overloaded',
    rate_limit_reached_error: 'rate-limited',
    content_filter: 'bad-request',
  },
  byMessage: [
    [/\bexceeded model token limit\b|\binput token length too long\b|\btotal message size\b/i, 'too-large'],
    [/\bnot found the model\b/i, 'unknown-model'],
    [/\binsufficient balance\b/i, 'no-credit'],
    [/\breached (?:your|kimi\b.{0,20}) ?usage limit\b/i, 'quota-used-up'],
  ],
} as const;

/**
 * While it thinks, an assistant message without its reasoning is refused (HTTP 400). Sampling is fixed; the model table
 * knows.
 */
export function kimiDialect(flags: Readonly<Record<string, string>>): ChatDialect {
  const thinking = flags['kimi-thinking'];
  return {
    provider: 'kimi',
    streams: flags['kimi-stream'] !== 'false',
    asksForUsage: true,
    lengthField: 'max_completion_tokens',
    namesCache: true,
    reasoningBack: (model) => (kimiThinking(thinking, model).thinks ? 'always' : 'never'),
    own: ({ model }) => kimiThinking(thinking, model).field,
    failureOf: (status, body) => saidFailure(kimiWords, status, body),
  };
}

/**
 * Kimi of Moonshot AI. The Chinese platform (`https://api.moonshot.cn/v1`) and the plan for coding
 * (`https://api.kimi.com/coding/v1`) are other bases, with keys of their own.
 */
export const kimi: ProviderSource = {
  title: 'Kimi',
  keys: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
  base: 'https://api.moonshot.ai/v1',
  defaultModel: 'kimi-k2.7-code',
  flags: flagTable.kimi,
  open: (setting) => {
    const { flags, model } = setting;
    if (model !== undefined) kimiThinking(flags['kimi-thinking'], model);
    return wireProvider(chatFormat(kimiDialect(flags), setting), setting);
  },
};

/** The inner codes: arrears, quotas, rates and overloads all come as HTTP 429 (docs.z.ai, Errors). */
const zhipuWords = {
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

/** Models that think; the standard endpoint discards earlier thoughts unless the request keeps them. */
const glmThinks = /^glm-(?:4\.[5-9]|[5-9])/;
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
    ...(glmThinks.test(model) ? { thinking: { type: 'enabled', clear_thinking: false } } : {}),
    ...(streams && tools.length > 0 && callsInPieces.test(model) ? { tool_stream: true } : {}),
  }),
  // `{error: {code: '1302', message}}`, read before the status.
  failureOf: (status, body) => saidFailure(zhipuWords, status, body),
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
