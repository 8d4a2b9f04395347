import type { WritError } from '../../core/base/errors.ts';
import type { FailureKind } from '../../core/contract/model.ts';
import { providerFailure } from '../../core/contract/provider.ts';
import { isJson, type Json, textOf } from './json.ts';

/** Codex's own words for why a turn failed; what it says of HTTP goes by its status. */
const kinds: Readonly<Record<string, FailureKind>> = {
  badRequest: 'bad-request',
  contextWindowExceeded: 'too-large',
  cyberPolicy: 'forbidden',
  internalServerError: 'server',
  misalignmentPolicyViolation: 'forbidden',
  modelNotFound: 'unknown-model',
  rateLimitExceeded: 'rate-limited',
  serverOverloaded: 'overloaded',
  sessionBudgetExceeded: 'quota-used-up',
  unauthorized: 'key-refused',
  usageLimitExceeded: 'quota-used-up',
};
const byStatus: Readonly<Record<number, FailureKind>> = {
  401: 'key-refused',
  402: 'no-credit',
  403: 'forbidden',
  404: 'unknown-model',
  413: 'too-large',
  429: 'rate-limited',
  503: 'overloaded',
};

/** PROVIDER_FAILED out of a failed turn's error. */
export function turnFailure(error: Json): WritError {
  const { codexErrorInfo: info } = error;
  const [named, detail] =
    typeof info === 'string' ? [info, {}] : (Object.entries(isJson(info) ? info : {})[0] ?? []);
  const status =
    isJson(detail) && typeof detail.httpStatusCode === 'number' ? detail.httpStatusCode : undefined;
  const byWord = named !== undefined && Object.hasOwn(kinds, named) ? kinds[named] : undefined;
  const kind =
    byWord ??
    (status === undefined ? undefined : (byStatus[status] ?? (status >= 500 ? 'server' : 'bad-request')));
  return providerFailure({
    provider: 'codex',
    kind: kind ?? 'broken-reply',
    found: textOf(error.message) ?? 'a turn failed without a reason',
    ...(status === undefined ? {} : { status }),
  });
}
