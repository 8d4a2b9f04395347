import type { CheckRunner, ReportFile } from '../../core/contract/check-runner.ts';
import type { Finding } from '../../core/contract/finding.ts';
import type { SandboxResult } from '../../core/contract/sandbox.ts';
import type { TestCounts } from '../../core/contract/stage.ts';
import { endingOf, parseReport, reportEndings } from '../reports/parse-report.ts';
import { plainLine } from '../reports/plain-text.ts';
import { Tally } from '../reports/tally.ts';
import type { Contradiction, ReportRefusal, TestReport } from '../reports/test-report.ts';
import { failure, judgeExit } from './judge-exit.ts';

/** Failed tests that get a finding of their own; the rest is counted. */
const maxNamed = 20;
/** What a check measures for the regression gate; never a test report. */
const metricsFile = 'metrics.json';

interface ReadSuite {
  readonly report?: TestReport;
  readonly findings: readonly Finding[];
}

/**
 * Check kind `testSuite`: passes where the exit code is the expected one *and* a report says that tests ran and none failed.
 * Reports are `$REPORTS_DIR/*.{xml,tap,json}`, summed, else standard output that begins as TAP, else REPORT_MISSING.
 */
export const testSuiteCheck: CheckRunner = {
  async run({ check, runCommand }) {
    const ran = await runCommand();
    const { result, reports } = ran;
    const exit = judgeExit(check, ran);
    // A command that was refused or ended half-way says nothing by its reports.
    if (!result || ran.denied || result.timedOut || result.aborted) {
      return { findings: exit, ...(result ? { result } : {}), reports };
    }
    const { report, findings } = await readSuite(result, reports);
    const judged = report ? judgeReport(report, exit.length === 0) : [];
    const tests = report && { tests: toCounts(report) };
    return { findings: [...exit, ...findings, ...judged], result, reports, ...tests };
  },
};

async function readSuite(result: SandboxResult, reports: readonly ReportFile[]): Promise<ReadSuite> {
  const candidates = reports.filter(
    ({ name }) => reportEndings.includes(endingOf(name)) && name !== metricsFile,
  );
  const total = new Tally();
  const contradictions: Contradiction[] = [];
  const findings: Finding[] = [];
  const others: Finding[] = [];
  let read = 0;
  for (const { name, bytes } of candidates) {
    const { report, refusal } = await parseReport(name, bytes);
    if (report) {
      read += 1;
      total.add(report);
      contradictions.push(...report.contradictions);
    } else if (refusal.reason === 'unsupported' || refusal.reason === 'not-a-report')
      others.push(unreadable(name, refusal));
    else findings.push(unreadable(name, refusal));
  }
  if (read > 0 || findings.length > 0) {
    return { findings, ...(read > 0 ? { report: total.toReport(contradictions) } : {}) };
  }
  return (await readOutput(result)) ?? { findings: others.length > 0 ? others : [reportMissing()] };
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
  const { passed, failed, skipped, failures, emptyFiles, contradictions } = report;
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
    const message = `no test ran in ${emptyFiles.map((name) => `\`${name}\``).join(', ')}`;
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
  return findings;
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
    'expected a test report in `$REPORTS_DIR` (`*.xml`, `*.tap`) or TAP on standard output, found neither',
  );
}

function toCounts({ passed, failed, skipped }: TestReport): TestCounts {
  return { passed, failed, skipped };
}
