import { sha256Hex } from '../../../core/base/digest.ts';

/** Short digest of code that says a place in a way that is not read: equal for equal code however it is spaced. */
export function digestOf(code: string): string {
  return sha256Hex(code.replace(/\s+/g, '')).slice(0, 12);
}
