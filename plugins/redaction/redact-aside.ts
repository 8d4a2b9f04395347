import { WritError } from '../../core/base/errors.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { defineTask } from '../../core/kernel/worker/task.ts';
import { type Redacted, redact } from '../../readers/sensitive/redact.ts';
import type { RedactorOptions } from '../../readers/sensitive/redactor.ts';
import type { run } from './redact-in-thread.ts';

const redactTask = defineTask<typeof run>(new URL('./redact-in-thread.ts', import.meta.url));

/** What takes longer than sending it to a thread, which is about as long as a screen takes to be drawn. */
const leastBytes = 1024 * 1024;
const timeoutMs = 300_000;

/**
 * `redact`, of large content in a thread of the pool: nothing else waits for it. WORKER_FAULT where that thread fails.
 */
export async function redactAside(
  bytes: Uint8Array,
  options: RedactorOptions,
  pool: Pick<WorkerPool, 'run'>,
): Promise<Redacted> {
  if (options.classes.size === 0 || bytes.length < leastBytes) return redact(bytes, options);
  const outcome = await pool.run(redactTask, { bytes, options }, { timeoutMs });
  if (outcome.ok) return outcome.value.redactions.length === 0 ? { ...outcome.value, bytes } : outcome.value;
  throw new WritError('WORKER_FAULT', {
    message: `content of ${bytes.length} bytes could not be redacted: ${outcome.error.message}`,
    detail: { bytes: bytes.length, reason: outcome.reason },
  });
}
