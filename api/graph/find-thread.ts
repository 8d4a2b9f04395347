import { WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import type { KnownThreads } from './known-threads.ts';

/** Fewer letters name nothing. */
const fewest = 4;

/**
 * The thread of that id, or of which it is an unambiguous beginning. THREAD_NOT_FOUND names it, and the thread of a run
 * whose id it is. `others` are ids that no run tells of: sessions.
 */
export function findThread(
  wanted: string,
  { runs, intents }: KnownThreads,
  others: readonly string[],
): string {
  const all = new Set([
    ...runs.map(({ threadId }) => threadId),
    ...intents.flatMap(({ threadId }) => threadId ?? []),
    ...others,
  ]);
  const fits = [...all]
    .filter((id) => id === wanted || (wanted.length >= fewest && id.startsWith(wanted)))
    .sort();
  const [thread] = fits;
  if (fits.length === 1 && thread !== undefined) return thread;
  const run =
    fits.length > 0 || wanted.length < fewest ? [] : runs.filter(({ runId }) => runId.startsWith(wanted));
  const threads = new Set(run.map(({ threadId }) => threadId));
  const [ofRun] = threads;
  throw new WritError('THREAD_NOT_FOUND', {
    message:
      fits.length > 1
        ? `\`${printable(wanted)}\` fits ${fits.length} threads`
        : `there is no thread \`${printable(wanted)}\` in this repository`,
    detail: { thread_id: printable(wanted), fits: fits.slice(0, 10) },
    ...(threads.size === 1 ? { hints: [`that is a run; its thread: \`writ graph ${ofRun}\``] } : {}),
  });
}
