/* The check kinds `command` and `testSuite`. */
import type { CheckRunner, ExecutedTests } from '../../core/interfaces/check.ts';
import type { Finding } from '../../core/interfaces/finding.ts';
import type { SandboxResult } from '../../core/interfaces/sandbox.ts';
import type { TestCounts } from '../../core/interfaces/stage.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { defineTask } from '../../core/kernel/worker/task.ts';
import { endingOf, reportEndings } from '../reports/parse-report.ts';
import type { TestFailure, TestReport } from '../reports/test-report.ts';
import { type CommandRun, evaluateExit, failure, note, unreadable } from './judge-exit.ts';
import type { run } from './read-suite-in-thread.ts';
import { type ReadSuite, readSuite, type SuiteOutput, tapBeginsAt } from './suite-report.ts';

/**
 * Check kind `command`: passes where the command ran under ACL, sandbox and time-out and ended with the expected exit
 * code. If it left a test report (a file, or TAP on standard output) or printed its tests for people, they are kept
 * for comparing with the base; they give no verdict here. A check that is a scanner is evaluated by its report.
 */
export const commandCheck = (pool: Pick<WorkerPool, 'run'>): CheckRunner => ({
  async run(context) {
    const { check, report: named, runCommand, scan } = context;
    if (scan) return (await import('./evaluate-scan.ts')).evaluateScan(context, scan);
    const ran = await runCommand();
    const { result, reports } = ran;
    const outcome = { findings: evaluateExit(check, ran), ...(result ? { result } : {}), reports };
    if (!hasEnded(ran)) return outcome;
    const begins = tapBeginsAt(ran.result.stdout.bytes);
    const hasReport =
      begins !== undefined || reports.some(({ name }) => reportEndings.includes(endingOf(name)));
    const stdout = { ...ran.result.stdout, bytes: ran.result.stdout.bytes.subarray(begins ?? 0) };
    const { report } = hasReport
      ? await readSuiteAside({ named, result: { stdout }, reports, unread: [] }, pool)
      : {};
    const executed = report ? toExecuted(report) : await printedTests(ran.result);
    return executed ? { ...outcome, executed } : outcome;
  },
});

/** What a command printed for people, if all of it was kept. */
async function printedTests({ combined }: SandboxResult): Promise<ExecutedTests | undefined> {
  if (combined.truncated || combined.bytes.length === 0) return undefined;
  const { readPrinted } = await import('../reports/printed.ts');
  const report = readPrinted(combined.bytes);
  return report && { ...toExecuted(report), isPrinted: true };
}

/** The output of a refused or interrupted command is no evidence. */
function hasEnded<Ran extends CommandRun>(ran: Ran): ran is Ran & { readonly result: SandboxResult } {
  const { denied, result } = ran;
  return result !== undefined && !(denied || result.timedOut || result.aborted || result.exceeded);
}

const readSuiteTask = defineTask<typeof run>(new URL('./read-suite-in-thread.ts', import.meta.url));

/** Below this size, sending the input to a thread costs more than parsing it. */
const leastBytes = 1024 * 1024;
const timeoutMs = 300_000;

/**
 * Runs `readSuite`; large reports are read in a thread of the pool. They do not block other work, and a report that
 * crashes its thread is ignored.
 */
async function readSuiteAside(suite: SuiteOutput, pool: Pick<WorkerPool, 'run'>): Promise<ReadSuite> {
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
function toExecuted(report: TestReport): ExecutedTests {
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

/**
 * Check kind `testSuite`. It passes if the exit code is as expected, the one report lists tests and no failure, and
 * report, output and exit code agree. `suite-report.ts` finds the report.
 */
export const testSuiteCheck = (pool: Pick<WorkerPool, 'run'>): CheckRunner => ({
  async run({ check, report: named, runCommand }) {
    const ran = await runCommand();
    const { result, reports, unread = [] } = ran;
    const exit = evaluateExit(check, ran);
    if (!hasEnded(ran)) return { findings: exit, ...(result ? { result } : {}), reports };
    const { report, source, findings } = await readSuiteAside(
      { named, result: { stdout: ran.result.stdout }, reports, unread },
      pool,
    );
    const judged = report
      ? [
          ...judgeReport(report, exit.length === 0),
          ...exitDisagreement(source, report, ran.result, check.expectedExitCode),
        ]
      : [];
    const executed = report && toExecuted(report);
    const tests = executed && { tests: executed.counts, executed };
    return { findings: [...exit, ...findings, ...judged], result: ran.result, reports, ...tests };
  },
});

/** Failed tests that get a finding of their own; the rest is counted. */
const maxNamed = 20;

/**
 * Findings from the report alone: contradictions, no test executed, failed tests. Flaky and skipped tests give notes.
 */
function judgeReport(report: TestReport, exitedAsExpected: boolean): readonly Finding[] {
  const { passed, failed, skipped, flaky, failures, emptyFiles, contradictions } = report;
  const findings: Finding[] = contradictions.map(({ severity, message }) => ({
    rule: 'check-outcome',
    severity,
    message: `the report contradicts itself: ${message}`,
    detail: { code: 'REPORT_CONTRADICTORY' },
  }));
  if (passed + failed === 0) {
    const message = `expected at least one test to run, found none (${skipped} skipped)`;
    findings.push(failure('NO_TEST_EXECUTED', message, { skipped, emptyFiles }));
  }
  if (emptyFiles.length > 0) {
    const message = `no test ran in ${quoted(emptyFiles)}`;
    findings.push({
      rule: 'check-outcome',
      severity: 'warning',
      message,
      detail: { code: 'FILE_WITHOUT_TESTS' },
    });
  }
  if (failed > 0) {
    const against = exitedAsExpected ? ', although the exit code says that all is well' : '';
    const message = `expected no test to fail, found ${failed} of ${passed + failed}${against}`;
    findings.push(
      failure('TESTS_FAILED', message, { passed, failed, skipped, contradictsExitCode: exitedAsExpected }),
    );
  }
  for (const { name, message } of failures.slice(0, maxNamed)) {
    const said = message === undefined ? '' : `: ${message}`;
    findings.push(failure('TEST_FAILED', `test \`${name}\` failed${said}`, { test: name }));
  }
  if (flaky > 0) {
    const message = `${toTests(flaky)} failed before they passed: ${quoted(report.flakyTests, flaky)}`;
    findings.push(note('TESTS_FLAKY', message, { count: flaky, tests: report.flakyTests }));
  }
  if (skipped > 0) {
    const message = `${toTests(skipped)} skipped: ${quoted(report.skippedTests, skipped)}`;
    findings.push(note('TESTS_SKIPPED', message, { count: skipped, tests: report.skippedTests }));
  }
  return findings;
}

function toTests(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`;
}

function quoted(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, 5).map((name) => `\`${name}\``);
  return count > shown.length ? `${shown.join(', ')} and ${count - shown.length} more` : shown.join(', ');
}

/**
 * Findings if the exit code contradicts the report: 0 with failed tests, or an unexpected code without failed tests.
 * A nonzero expected exit code gives no information about tests.
 */
function exitDisagreement(
  source: string,
  { passed, failed }: TestReport,
  { exitCode, signal }: Pick<SandboxResult, 'exitCode' | 'signal'>,
  expected: number,
): readonly Finding[] {
  if (passed + failed === 0) return [];
  const ended = exitCode === undefined ? `signal ${signal ?? 'unknown'}` : `exit code ${exitCode}`;
  const disagrees = failed > 0 ? exitCode === 0 : exitCode !== expected;
  if (!disagrees) return [];
  const message = `report and exit code disagree: ${source} says ${failed} failed, the command ended with ${ended}`;
  return [
    failure('REPORT_DISAGREES', message, {
      between: [source, 'exit code'],
      failed,
      exitCode: exitCode ?? null,
    }),
  ];
}
