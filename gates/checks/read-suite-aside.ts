import type { ExecutedTests } from '../../core/contract/check-runner.ts';
import type { TestCounts } from '../../core/contract/stage.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { defineTask } from '../../core/kernel/worker/task.ts';
import type { TestFailure, TestReport } from '../reports/test-report.ts';
import { unreadable } from './judge-exit.ts';
import type { run } from './read-suite-in-thread.ts';
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

/** A report as a check's record keeps it. */
function toCounts(report: TestReport): TestCounts {
  const { passed, failed, skipped, flaky, durationMs, failures, slowest } = report;
  return {
    passed,
    failed,
    skipped,
    ...(flaky > 0 ? { flaky } : {}),
    ...(durationMs === undefined ? {} : { durationMs: rounded(durationMs) }),
    ...(failures.length > 0 ? { failedTests: failures.map(toFailedTest) } : {}),
    ...(slowest.length > 0
      ? { slowest: slowest.map(({ name, durationMs: ms }) => ({ name, durationMs: rounded(ms) })) }
      : {}),
  };
}

/** A report as it is compared with another one. */
export function toExecuted(report: TestReport): ExecutedTests {
  const { names, skippedTests: skipped, emptyFiles } = report;
  return { counts: toCounts(report), names, skipped, emptyFiles };
}

function toFailedTest({ name, durationMs }: TestFailure): { name: string; durationMs?: number } {
  return { name, ...(durationMs === undefined ? {} : { durationMs: rounded(durationMs) }) };
}

/** Microseconds are enough. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
