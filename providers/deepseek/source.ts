/* The provider for DeepSeek. */
import { quoted } from '../../core/base/printable.ts';
import type { ProviderSource } from '../../core/interfaces/provider.ts';
import { flagTable } from '../flags.ts';
import { type ChatDialect, chatFormat } from '../wire/chat/chat-format.ts';
import { saidFailure } from '../wire/failures.ts';
import { wireProvider } from '../wire/wire-provider.ts';

const words = {
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
    failureOf: (status, body) => saidFailure(words, status, body),
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
