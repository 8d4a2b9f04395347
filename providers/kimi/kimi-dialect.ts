import type { ChatDialect } from '../wire/chat/chat-format.ts';
import { saidFailure } from '../wire/said-failure.ts';
import { kimiThinking } from './kimi-thinking.ts';

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
