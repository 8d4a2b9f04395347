/* The provider for Kimi of Moonshot AI. */
import { WritError } from '../../core/base/errors.ts';
import { quoted } from '../../core/base/printable.ts';
import type { ProviderSource } from '../../core/interfaces/provider.ts';
import { flagTable } from '../flags.ts';
import { type ChatDialect, chatFormat } from '../wire/chat/chat-format.ts';
import { saidFailure } from '../wire/failures.ts';
import type { Json } from '../wire/wire-format.ts';
import { wireProvider } from '../wire/wire-provider.ts';

interface ThinkingHabits {
  readonly models: RegExp;
  readonly thinks: 'as-told' | 'always' | 'never';
  /** Whether it knows the field `thinking`. */
  readonly hasField: boolean;
}

/** Any other model is unknown: the flag is passed on, and thinking cannot be disabled. */
const unknown: Omit<ThinkingHabits, 'models'> = { thinks: 'always', hasField: true };

const families: readonly ThinkingHabits[] = [
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
  const { thinks, hasField } = families.find(({ models }) => models.test(model)) ?? unknown;
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

const words = {
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
    failureOf: (status, body) => saidFailure(words, status, body),
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
