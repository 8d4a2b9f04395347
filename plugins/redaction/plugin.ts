/* Removes data of classes that the spec does not allow. */
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { definePlugin } from '../../core/kernel/plugin.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { defineTask } from '../../core/kernel/worker/task.ts';
import { findSensitive } from '../../readers/sensitive/find-sensitive.ts';
import { type Redacted, redact } from '../../readers/sensitive/redact.ts';
import type { RedactorOptions } from '../../readers/sensitive/redactor.ts';
import type { run } from './redact-in-thread.ts';

const redactTask = defineTask<typeof run>(new URL('./redact-in-thread.ts', import.meta.url));

/**
 * Below this size, sending the content to a thread costs more than redacting it. Redacting this much lasts about one
 * screen frame.
 */
const leastBytes = 1024 * 1024;
const timeoutMs = 300_000;

/**
 * Runs `redact`; large content is processed in a thread of the pool, so that it does not block other work. Throws
 * WORKER_FAULT if that thread fails.
 */
async function redactAside(
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

/** Content waits for a free thread; a thread has its own deadline. */
const unhurried = { timeoutMs: 3_600_000 };

/**
 * Removes data of classes that the spec does not allow from every artifact before storage, and from all context of a
 * run. A repository file with such data is not added to the context.
 */
export const redactionPlugin = definePlugin({
  name: 'redaction',
  api: 1,
  enforces: ['constraints.privacy.redactionRequired=true', 'constraints.privacy.dataClassesAllowed#context'],
  setup({ hooks, pool }) {
    // Lives as long as the engine and is never stored. Equal values have equal digests within a run, and later no one
    // can guess a value from its digest.
    const key = randomOctets(32);
    hooks.artifact.redact.tap(async (artifact) => {
      const { words, remove } = artifact.policy;
      const { bytes, redactions, unscanned } = await redactAside(
        artifact.bytes,
        { key, words, classes: new Set(remove) },
        pool,
      );
      const count = redactions.reduce((sum, one) => sum + one.count, 0);
      return {
        ...artifact,
        bytes,
        redactions: artifact.redactions + count,
        receipt: [...artifact.receipt, ...redactions],
        ...(unscanned === undefined ? {} : { unscanned }),
      };
    }, unhurried);
    hooks.frame.admit.tap(({ kind, bytes, policy: { beyond, words } }) => {
      if (kind !== 'File') return undefined;
      const found = findSensitive(bytes, { classes: new Set(beyond), words, weighs: true }).find(
        ({ reserved }) => !reserved,
      );
      if (found === undefined) return undefined;
      return {
        message: `the file holds data of class \`${found.class}\` (${found.rule}), which the spec does not allow`,
        detail: { class: found.class, found: found.rule },
      };
    });
    hooks.frame.redact.tap(async (entry) => {
      const { beyond, words } = entry.policy;
      const options = { key, words, classes: new Set(beyond) };
      return { ...entry, bytes: (await redactAside(entry.bytes, options, pool)).bytes };
    }, unhurried);
    return undefined;
  },
});
