import type { ErrorCode } from './error-codes.ts';
import { WritError } from './errors.ts';

/** Why a text is refused: `detail.reason` of the fault. */
export type StrictJsonReason =
  | 'too-large'
  | 'byte-order-mark'
  | 'invalid-utf8'
  | 'syntax'
  | 'unexpected-end'
  | 'trailing-data'
  | 'too-deep'
  | 'duplicate-key'
  | 'lone-surrogate'
  | 'control-character'
  | 'number-range';

/** Input as it may stand in a message: quoted, without control characters, bounded. */
export function clipped(input: string): string {
  const quoted = JSON.stringify([...input.slice(0, 80)].slice(0, 40).join('').toWellFormed()).slice(1, -1);
  return `\`${quoted.replaceAll(/[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069`]/g, '?')}\``;
}

/** The fault, with `detail {reason, line, column}` of the place; lines end in LF, CR or both. */
export function jsonRefusal(
  code: ErrorCode,
  reason: StrictJsonReason,
  text: string,
  at: number,
  message: string,
): WritError {
  const before = text.slice(0, at).split(/\r\n|\n|\r/);
  const line = before.length;
  const column = [...(before[line - 1] ?? '')].length + 1;
  return new WritError(code, {
    message: `${message} at line ${line}, column ${column}`,
    detail: { reason, line, column },
  });
}
