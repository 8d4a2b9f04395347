import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { HttpQuestion } from '../../core/base/http-question.ts';
import type { HttpAnswer, HttpAsker } from '../../core/base/net.ts';

export interface Patience {
  readonly clock: Clock;
  readonly fetch: HttpAsker;
  /** How often a question is asked in all. */
  readonly attempts: number;
  /** Longest wait before asking again, also where the log names a longer one. */
  readonly maxWaitMs: number;
}

/**
 * Asks a log, and again where it is busy (429), failing (5xx) or silent; Retry-After is honoured up to `maxWaitMs`. Any
 * other status is an answer. LOG_FAILED that says what was found last.
 */
export async function askLog(question: HttpQuestion, patience: Patience): Promise<HttpAnswer> {
  const { clock, fetch: ask, attempts, maxWaitMs } = patience;
  for (let attempt = 1; ; attempt++) {
    const outcome = await askOnce(question, ask);
    const isLast = attempt >= attempts;
    if ('status' in outcome) {
      if (!isPassing(outcome.status)) return outcome;
      if (isLast)
        throw logFailed(`it answered ${outcome.status} to each of ${attempts} attempts`, question.url);
    } else if (isLast) throw logFailed(outcome.message, question.url, outcome);
    const asked = 'status' in outcome ? retryAfterMs(outcome.headers['retry-after'], clock.now()) : undefined;
    await clock.sleep(Math.min(maxWaitMs, asked ?? 500 * 2 ** (attempt - 1)), question.signal);
  }
}

async function askOnce(question: HttpQuestion, ask: HttpAsker): Promise<HttpAnswer | WritError> {
  try {
    return await ask(question);
  } catch (fault) {
    if (isWritError(fault, 'NETWORK_FAILED')) return fault;
    throw fault;
  }
}

function isPassing(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3), as milliseconds from now; `undefined` for anything else. */
function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** A log that did not do what was asked: what was found, and at which address. */
export function logFailed(found: string, url: string, cause?: unknown): WritError {
  const { origin } = new URL(url);
  const why = isWritError(cause) ? { code: cause.code, ...cause.detail } : {};
  return new WritError('LOG_FAILED', {
    message: `the public log \`${origin}\` did not do what was asked: ${found}`,
    detail: { ...why, origin, found },
    cause,
  });
}
