import type { FailureKind } from '../../core/contract/model.ts';
import { failureByStatus } from '../wire/failure-by-status.ts';
import { partsOf, textIn } from '../wire/json-parts.ts';
import { rowOf } from '../wire/row-of.ts';
import type { SaidFailure } from '../wire/wire-format.ts';

/** `error.details.error_code`, where there is one: the only exact word. */
const byCode: Readonly<Record<string, FailureKind>> = {
  organization_on_hold: 'forbidden',
  contract_spend_limit_reached: 'quota-used-up',
  enforced_spend_limit_reached: 'quota-used-up',
  linked_organization_spend_limit_reached: 'quota-used-up',
  linked_organization_billing_unavailable: 'no-credit',
  request_body_too_large_after_decoding: 'too-large',
};

/** A bad request is many things, told apart by its words alone; what they do not say stays a bad request. */
const byWords: readonly (readonly [RegExp, FailureKind])[] = [
  [/credit balance is too low/i, 'no-credit'],
  [/reached your specified .{0,40}usage limits/i, 'quota-used-up'],
  [/prompt is too long|exceeds? (?:the )?(?:context|maximum allowed)/i, 'too-large'],
];

/** `error.type` (platform.claude.com/docs/en/api/errors). */
const byType: Readonly<Record<string, FailureKind>> = {
  invalid_request_error: 'bad-request',
  authentication_error: 'key-refused',
  billing_error: 'no-credit',
  permission_error: 'forbidden',
  not_found_error: 'unknown-model',
  request_too_large: 'too-large',
  rate_limit_error: 'rate-limited',
  api_error: 'server',
  timeout_error: 'server',
  overloaded_error: 'overloaded',
};

/** `{type: "error", error: {type, message, details?}}`; without a status it came in the middle of a reply. */
export function anthropicFailure(status: number | undefined, body: unknown): SaidFailure {
  const { type, message, details } = partsOf(partsOf(body).error);
  const named = textIn(type);
  const found = textIn(message);
  const kind =
    rowOf(byCode, textIn(partsOf(details).error_code)) ??
    (named === 'invalid_request_error' ? byWords.find(([words]) => words.test(found))?.[1] : undefined) ??
    rowOf(byType, named) ??
    (status === undefined ? 'server' : failureByStatus(status));
  return { kind, found };
}
