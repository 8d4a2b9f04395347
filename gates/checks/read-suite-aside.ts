import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { defineTask } from '../../core/kernel/worker/task.ts';
import type { run } from './read-suite-in-thread.ts';
import { unreadable } from './report-finding.ts';
import { type ReadSuite, readSuite, type SuiteOutput } from './suite-report.ts';

const readSuiteTask = defineTask<typeof run>(new URL('./read-suite-in-thread.ts', import.meta.url));

/** What takes longer than sending it to a thread. */
const leastBytes = 1024 * 1024;
const timeoutMs = 300_000;

/**
 * `readSuite`, of large reports in a thread of the pool: nothing else waits for them, and one that takes a thread down
 * counts for nothing.
 */
export async function readSuiteAside(suite: SuiteOutput, pool: Pick<WorkerPool, 'run'>): Promise<ReadSuite> {
  const { stdout } = suite.result;
  const sizes = [stdout.bytes.length, ...suite.reports.map(({ bytes }) => bytes.length)];
  if (sizes.reduce((sum, size) => sum + size, 0) < leastBytes) return readSuite(suite);
  const outcome = await pool.run(readSuiteTask, suite, { timeoutMs });
  if (outcome.ok) return outcome.value;
  const { reason, error } = outcome;
  const message = `it could not be read to its end (${reason}): ${error.message}`;
  const source = suite.named ?? 'report';
  return { source, findings: [unreadable(source, { reason: 'malformed', message })] };
}
