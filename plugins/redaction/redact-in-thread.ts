import { type Redacted, redact } from '../../readers/sensitive/redact.ts';
import type { RedactorOptions } from '../../readers/sensitive/redactor.ts';

/** `redact` in a thread. */
export function run(task: { readonly bytes: Uint8Array; readonly options: RedactorOptions }): Redacted {
  return redact(task.bytes, task.options);
}
