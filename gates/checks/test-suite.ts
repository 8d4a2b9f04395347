import type { CheckRunner, ReportFile } from '../../core/contract/check-runner.ts';
import type { Finding } from '../../core/contract/finding.ts';
import type { SandboxResult } from '../../core/contract/sandbox.ts';
import type { TestCounts } from '../../core/contract/stage.ts';
import { metricsFile } from '../../core/run/regression/metrics.ts';
import { endingOf, parseReport, reportEndings } from '../reports/parse-report.ts';
import { plainLine } from '../reports/plain-text.ts';
import { Tally } from '../reports/tally.ts';
import type { ReportRefusal, TestFailure, TestReport } from '../reports/test-report.ts';
import { failure, judgeExit } from './judge-exit.ts';

/** Failed tests that get a finding of their own; the rest is counted. */
const maxNamed = 20;

interface ReportRefused {
  readonly name: string;
  readonly refusal: ReportRefusal;
}

interface ReadSuite {
  readonly report?: TestReport;
  readonly findings: readonly Finding[];
}

/**
 * Check kind `testSuite`: passes where the exit code is the expected one *and* a report says that tests ran and none failed.
 * Reports are `$REPORTS_DIR/*.{xml,tap,json}`, known by their content and summed, else standard output that begins as TAP, else REPORT_MISSING.
 */
export const testSuiteCheck: CheckRunner = {
  async run({ check, runCommand }) {
    const ran = await runCommand();
    const { result, reports, unread = [] } = ran;
    const exit = judgeExit(check, ran);
    // A command that was refused or ended half-way says nothing by its reports.
    if (!result || ran.denied || result.timedOut || result.aborted) {
      return { findings: exit, ...(result ? { result } : {}), reports };
    }
    const { report, findings } = await readSuite(result, reports, unread);
    const judged = report ? judgeReport(report, exit.length === 0) : [];
    const tests = report && { tests: toCounts(report) };
    return { findings: [...exit, ...findings, ...judged], result, reports, ...tests };
  },
};

async function readSuite(
  result: SandboxResult,
  reports: readonly ReportFile[],
  unread: readonly string[],
): Promise<ReadSuite> {
  const isReport = (name: string): boolean => reportEndings.includes(endingOf(name)) && name !== metricsFile;
  const total = new Tally();
  const findings: Finding[] = unread
    .filter(isReport)
    .map((name) => unreadable(name, { reason: 'not-a-file', message: 'it is no regular file' }));
  const others: ReportRefused[] = [];
  let read = 0;
  for (const { name, bytes, isStale } of reports) {
    if (!isReport(name)) continue;
    const { report, refusal } = isStale ? { refusal: stale } : await parseReport(name, bytes);
    if (report) {
      read += 1;
      findings.push(...sharedTests(name, total.names, report.names));
      total.add(report);
      // An ending of XML or JSON may stand for anything else that the check made.
    } else if (refusal.reason === 'not-a-report' && endingOf(name) !== 'tap') others.push({ name, refusal });
    else findings.push(unreadable(name, refusal));
  }
  if (read > 0 || findings.length > 0) {
    return {
      findings: [...findings, ...others.map(ignored)],
      ...(read > 0 ? { report: total.toReport() } : {}),
    };
  }
  const printed = await readOutput(result);
  if (printed) return { ...printed, findings: [...printed.findings, ...others.map(ignored)] };
  const bad = others.map(({ name, refusal }) => unreadable(name, refusal));
  return { findings: bad.length > 0 ? bad : [reportMissing()] };
}

/** The reports directory was empty when the command began: the file was moved or copied there with the time of an earlier run. */
const stale: ReportRefusal = { reason: 'stale', message: 'it was last written before the check began' };

function ignored({ name, refusal: { message } }: ReportRefused): Finding {
  const report = plainLine(name);
  return note('REPORT_IGNORED', `\`${report}\` is no test report and counts for nothing: ${message}`, {
    report,
  });
}

/** Reports add up, so a test that two of them name has counted twice: that is said. */
function sharedTests(
  name: string,
  before: ReadonlySet<string>,
  names: ReadonlySet<string>,
): readonly Finding[] {
  const [smaller, larger] = before.size < names.size ? [before, names] : [names, before];
  let count = 0;
  let first = '';
  for (const test of smaller) {
    if (!larger.has(test)) continue;
    if (count === 0) first = test;
    count += 1;
  }
  if (count === 0) return [];
  const report = plainLine(name);
  const message = `\`${report}\` names ${count} tests that another report names too, the first \`${first}\`: each report counts`;
  return [note('TEST_IN_TWO_REPORTS', message, { report, count, first })];
}

/** `undefined` where standard output is no TAP. */
async function readOutput({ stdout }: SandboxResult): Promise<ReadSuite | undefined> {
  const { beginsAsTap, parseTap } = await import('../reports/tap.ts');
  if (!beginsAsTap(stdout.bytes)) return undefined;
  if (stdout.truncated) {
    const message = `standard output begins as TAP, but only ${stdout.bytes.length} of its ${stdout.totalBytes} bytes were kept: write the report to \`$REPORTS_DIR\``;
    return { findings: [failure('REPORT_UNREADABLE', message, { reason: 'truncated' })] };
  }
  const { report, refusal } = await parseTap(stdout.bytes);
  return report ? { report, findings: [] } : { findings: [unreadable('standard output', refusal)] };
}

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

function note(code: string, message: string, detail: Readonly<Record<string, unknown>>): Finding {
  return { rule: 'check-outcome', severity: 'note', message, detail: { code, ...detail } };
}

function unreadable(name: string, { reason, message }: ReportRefusal): Finding {
  const shown = plainLine(name);
  return failure('REPORT_UNREADABLE', `\`${shown}\` cannot be read as a test report: ${message}`, {
    report: shown,
    reason,
  });
}

function reportMissing(): Finding {
  return failure(
    'REPORT_MISSING',
    "expected a test report in `$REPORTS_DIR` (JUnit XML, TAP or the runner's JSON in `*.xml`, `*.tap`, `*.json`) or TAP on standard output, found neither",
  );
}

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

function toFailedTest({ name, durationMs }: TestFailure): { name: string; durationMs?: number } {
  return { name, ...(durationMs === undefined ? {} : { durationMs: rounded(durationMs) }) };
}

/** Microseconds are enough. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
