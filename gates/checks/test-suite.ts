import type { CheckRunner } from '../../core/contract/check-runner.ts';
import type { WorkerPool } from '../../core/kernel/worker/pool.ts';
import { exitDisagreement } from './exit-disagreement.ts';
import { judgeExit } from './judge-exit.ts';
import { judgeReport } from './judge-report.ts';
import { readSuiteAside } from './read-suite-aside.ts';
import { toExecuted } from './to-counts.ts';

/**
 * Check kind `testSuite`: passes where the exit code is the expected one *and* its one report says that tests ran and
 * none failed *and* report, output and exit code agree. Where the report comes from: `suite-report.ts`.
 */
export const testSuiteCheck = (pool: Pick<WorkerPool, 'run'>): CheckRunner => ({
  async run({ check, report: named, runCommand }) {
    const ran = await runCommand();
    const { result, reports, unread = [] } = ran;
    const exit = judgeExit(check, ran);
    // A command that was refused or ended half-way says nothing by its reports.
    if (!result || ran.denied || result.timedOut || result.aborted || result.exceeded) {
      return { findings: exit, ...(result ? { result } : {}), reports };
    }
    const { report, source, findings } = await readSuiteAside(
      { named, result: { stdout: result.stdout }, reports, unread },
      pool,
    );
    const judged = report
      ? [
          ...judgeReport(report, exit.length === 0),
          ...exitDisagreement(source, report, result, check.expectedExitCode),
        ]
      : [];
    const executed = report && toExecuted(report);
    const tests = executed && { tests: executed.counts, executed };
    return { findings: [...exit, ...findings, ...judged], result, reports, ...tests };
  },
});
