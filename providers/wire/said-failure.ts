import type { FailureKind } from '../../core/contract/model.ts';
import { failureByStatus } from './failure-by-status.ts';
import { countIn, objectIn, partsOf, textIn } from './json-parts.ts';
import { secondsInWords } from './retry-after.ts';
import { rowOf } from './row-of.ts';
import type { SaidFailure } from './wire-format.ts';

/** What a vendor's words for a failure mean. */
export interface FailureWords {
  /** `error.code`, failing that `error.type`: each says more than the status that it comes with. */
  readonly byWord: Readonly<Record<string, FailureKind>>;
  /** Where only the message tells one from the other. Linear expressions. */
  readonly byMessage?: readonly (readonly [RegExp, FailureKind])[];
}

/**
 * `{error: {message, type, code}}`, as most vendors say it; some servers say `{error: 'text'}` or `{object: 'error',
 * message, type, code}`. Without a status it came in the middle of a reply, where no header says how long to wait.
 */
export function saidFailure(
  { byWord, byMessage = [] }: FailureWords,
  status: number | undefined,
  body: unknown,
): SaidFailure {
  const { error, object } = partsOf(body);
  const { message, type, code } = partsOf(object === 'error' ? body : error);
  const found = (textIn(message) || textIn(error)).slice(0, 2000);
  const kind =
    rowOf(byWord, textIn(code) || String(countIn(code) ?? '')) ??
    rowOf(byWord, textIn(type)) ??
    byMessage.find(([words]) => words.test(found))?.[1] ??
    (status === undefined ? 'server' : failureByStatus(status));
  const wait = status === undefined ? secondsInWords(found) : undefined;
  return { kind, found, ...(wait === undefined ? {} : { retryAfterSeconds: wait }) };
}

/**
 * Whether a frame of a reply, or the first of a list of frames, says that there will be none. `{detail}` alone is what
 * a web framework says in the place of a server of models.
 */
export function saysFailure(frame: unknown): boolean {
  const { error, object, detail, ...others } = partsOf(Array.isArray(frame) ? frame[0] : frame);
  if (objectIn(error) !== undefined || textIn(error) !== '' || object === 'error') return true;
  return detail !== undefined && Object.keys(others).length === 0;
}
