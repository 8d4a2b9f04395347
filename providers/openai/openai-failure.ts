import { saidFailure } from '../wire/said-failure.ts';
import type { SaidFailure } from '../wire/wire-format.ts';

const words = {
  byWord: {
    insufficient_quota: 'quota-used-up',
    usage_limit_reached: 'quota-used-up',
    billing_hard_limit_reached: 'no-credit',
    billing_not_active: 'no-credit',
    invalid_api_key: 'key-refused',
    model_not_found: 'unknown-model',
    context_length_exceeded: 'too-large',
    rate_limit_exceeded: 'rate-limited',
    server_is_overloaded: 'overloaded',
    slow_down: 'overloaded',
    server_error: 'server',
    // A question that the vendor's policy refuses.
    invalid_prompt: 'bad-request',
  },
} as const;

/** `{error: {message, type, param, code}}`; without a status it came in the middle of a reply. */
export function openaiFailure(status: number | undefined, body: unknown): SaidFailure {
  return saidFailure(words, status, body);
}
