import type { CheckRunner } from '../../core/interfaces/check.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { endingOf, reportEndings } from '../reports/parse-report.ts';
import { evaluateExit } from './judge-exit.ts';
import { tapBeginsAt } from './suite-report.ts';
import { readSuiteAside, toExecuted } from './test-suite.ts';

/**
 * Check kind `command`: passes where the command ran under ACL, sandbox and time-out and ended with the expected exit
 * code. If it left a test report (a file, or TAP on standard output), its tests are kept for comparing with the base;
 * they give no verdict here. A check that is a scanner is evaluated by its report.
 */
export const commandCheck = (pool: Pick<WorkerPool, 'run'>): CheckRunner => ({
  async run(context) {
    const { check, report: named, runCommand, scan } = context;
    if (scan) return (await import('./evaluate-scan.ts')).evaluateScan(context, scan);
    const ran = await runCommand();
    const { result, reports } = ran;
    const outcome = { findings: evaluateExit(check, ran), ...(result ? { result } : {}), reports };
    if (!result || outcome.findings.length > 0) return outcome;
    const begins = tapBeginsAt(result.stdout.bytes);
    if (begins === undefined && !reports.some(({ name }) => reportEndings.includes(endingOf(name))))
      return outcome;
    const stdout = { ...result.stdout, bytes: result.stdout.bytes.subarray(begins) };
    const { report } = await readSuiteAside({ named, result: { stdout }, reports, unread: [] }, pool);
    return report ? { ...outcome, executed: toExecuted(report) } : outcome;
  },
});
