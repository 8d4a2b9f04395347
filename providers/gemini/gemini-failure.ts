import type { FailureKind } from '../../core/contract/model.ts';
import { failureByStatus } from '../wire/failure-by-status.ts';
import { type Json, listIn, partsOf, textIn } from '../wire/json-parts.ts';
import { bounded } from '../wire/retry-after.ts';
import { rowOf } from '../wire/row-of.ts';
import type { SaidFailure } from '../wire/wire-format.ts';

/** `google.rpc.ErrorInfo`: the most exact word. */
const byReason: Readonly<Record<string, FailureKind>> = {
  API_KEY_INVALID: 'key-refused',
  BILLING_DISABLED: 'no-credit',
};

/** Words of a message, where one status means several things. */
const byWords: readonly (readonly [string, RegExp, FailureKind])[] = [
  ['INVALID_ARGUMENT', /api key not valid|api key expired/i, 'key-refused'],
  ['INVALID_ARGUMENT', /input token count|request payload size exceeds/i, 'too-large'],
  ['RESOURCE_EXHAUSTED', /prepayment credits|credits are depleted/i, 'no-credit'],
];

/** `google.rpc.Code` by name; the others mean what their HTTP status does. */
const byCode: Readonly<Record<string, FailureKind>> = {
  UNAUTHENTICATED: 'key-refused',
  PERMISSION_DENIED: 'forbidden',
  // A region or a free tier that the vendor does not serve.
  FAILED_PRECONDITION: 'forbidden',
  NOT_FOUND: 'unknown-model',
  INVALID_ARGUMENT: 'bad-request',
  RESOURCE_EXHAUSTED: 'rate-limited',
  UNAVAILABLE: 'overloaded',
  INTERNAL: 'server',
  UNKNOWN: 'server',
  DEADLINE_EXCEEDED: 'server',
  CANCELLED: 'server',
};

/** `{error: {code, message, status, details}}`, in a list of one at times; without a status it came in a reply. */
export function geminiFailure(status: number | undefined, body: unknown): SaidFailure {
  const { message, status: named, details } = partsOf(partsOf(Array.isArray(body) ? body[0] : body).error);
  const code = textIn(named);
  const found = textIn(message);
  const told = listIn(details).slice(0, 32).map(partsOf);
  const kind =
    told.map(({ reason }) => rowOf(byReason, textIn(reason))).find((one) => one !== undefined) ??
    byWords.find(([of, words]) => of === code && words.test(found))?.[2] ??
    (code === 'RESOURCE_EXHAUSTED' && told.some(isOfTheDay) ? 'quota-used-up' : undefined) ??
    rowOf(byCode, code) ??
    (status === undefined ? 'server' : failureByStatus(status));
  const wait = told.map(({ retryDelay }) => secondsIn(retryDelay)).find((one) => one !== undefined);
  return { kind, found, ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
}

/** `google.rpc.QuotaFailure` of a quota that comes back the next day, not the next minute. */
function isOfTheDay({ violations }: Json): boolean {
  return listIn(violations)
    .slice(0, 32)
    .some((one) => /PerDay/.test(textIn(partsOf(one).quotaId)));
}

/** `google.rpc.RetryInfo`: a duration such as `36s` or `36.42s`. */
function secondsIn(value: unknown): number | undefined {
  const [, seconds] = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(textIn(value)) ?? [];
  return seconds === undefined ? undefined : bounded(Number(seconds));
}
