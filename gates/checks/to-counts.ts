import type { ExecutedTests } from '../../core/contract/check-runner.ts';
import type { TestCounts } from '../../core/contract/stage.ts';
import type { TestFailure, TestReport } from '../reports/test-report.ts';

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
