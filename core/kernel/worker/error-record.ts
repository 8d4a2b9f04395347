import { messageOf } from '../../base/errors.ts';
import type { ErrorRecord } from './task-outcome.ts';

const maxLength = 1000;

/** Name, sentence and code of whatever was thrown, bounded; never its stack, which holds paths of this machine. */
export function toErrorRecord(thrown: unknown): ErrorRecord {
  try {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    return {
      name: (thrown instanceof Error ? thrown.name : typeof thrown).slice(0, maxLength),
      message: messageOf(thrown).slice(0, maxLength),
      ...(typeof code === 'string' ? { code: code.slice(0, maxLength) } : {}),
    };
  } catch {
    // A getter or `toString` of the thrown thing failed.
    return { name: typeof thrown, message: 'something without text was thrown' };
  }
}
