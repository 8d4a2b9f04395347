import type { Finding } from '../../core/contract/finding.ts';
import type { TestReport } from '../reports/test-report.ts';
import { failure } from './judge-exit.ts';
import { note } from './report-finding.ts';

/** Failed tests that get a finding of their own; the rest is counted. */
const maxNamed = 20;

/**
 * What a report itself says against the suite: contradictions, no test, failed tests; and what a reader wants to know
 * of it.
 */
export function judgeReport(report: TestReport, exitedAsExpected: boolean): readonly Finding[] {
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
