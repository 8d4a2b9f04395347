import type { Finding } from '../../core/contract/finding.ts';
import type { SandboxResult } from '../../core/contract/sandbox.ts';
import type { TestReport } from '../reports/test-report.ts';
import { failure } from './judge-exit.ts';

/**
 * What the exit code says against the report: 0 beside failed tests, or another than expected beside none. An expected
 * exit code other than 0 says nothing of tests.
 */
export function exitDisagreement(
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
