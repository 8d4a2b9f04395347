import type { FailureKind } from '../../core/contract/model.ts';
import { failureByStatus } from '../wire/failure-by-status.ts';
import { partsOf, textIn } from '../wire/json-parts.ts';
import { rowOf } from '../wire/row-of.ts';
import type { SaidFailure } from '../wire/wire-format.ts';

/** Codes that say more than the status that they come with. */
const byCode: Readonly<Record<string, FailureKind>> = {
  insufficient_quota: 'quota-used-up',
  invalid_api_key: 'key-refused',
  model_not_found: 'unknown-model',
  context_length_exceeded: 'too-large',
  rate_limit_exceeded: 'rate-limited',
  server_error: 'server',
};

/** `{error: {message, type, param, code}}`; without a status it came in the middle of a reply. */
export function openaiFailure(status: number | undefined, body: unknown): SaidFailure {
  const { message, type, code } = partsOf(partsOf(body).error);
  const kind =
    rowOf(byCode, textIn(code)) ??
    rowOf(byCode, textIn(type)) ??
    (status === undefined ? 'server' : failureByStatus(status));
  return { kind, found: textIn(message) };
}
