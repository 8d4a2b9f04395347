import type { FailureKind } from '../../core/contract/model.ts';

const byStatus: Readonly<Record<number, FailureKind>> = {
  401: 'key-refused',
  402: 'no-credit',
  403: 'forbidden',
  404: 'unknown-model',
  408: 'overloaded',
  413: 'too-large',
  429: 'rate-limited',
  503: 'overloaded',
  529: 'overloaded',
};

/** What a status means where the vendor's body says nothing better (RFC 9110, 15.5 and 15.6). */
export function failureByStatus(status: number): FailureKind {
  return byStatus[status] ?? (status >= 500 ? 'server' : 'bad-request');
}
