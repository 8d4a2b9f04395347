import { encodeId } from '../../engine/vcs/ref-name.ts';
import { outcomeOf } from '../statement/test-result.ts';
import { type EvidenceSource, testResultPath } from './evidence-source.ts';
import type { TestResultClaims } from './predicates/read-test-result.ts';
import { refuted } from './report.ts';
import { readStoredReport } from './shown-verdict.ts';

/**
 * A test result of a run that went through says what the gate report says of that very check: the same result, the same
 * failed tests (`mismatch`); and FAILED only of one that is not required (`policy-deny`).
 */
export async function requireTestResult(
  source: EvidenceSource,
  path: string,
  { result, failedTests }: TestResultClaims,
): Promise<void> {
  const { stages } = await readStoredReport(source, 'gate-report.json');
  const [check, ...more] = stages
    .flatMap((stage) => stage.checks)
    .filter(({ id, tests }) => tests !== undefined && testResultPath(encodeId(id)) === path);
  if (check === undefined || more.length > 0)
    throw refuted('policy-deny', {
      expected: 'one test suite of that name in the gate report',
      found: check ? 'several' : 'none',
    });
  const told = outcomeOf(check);
  if (told.result !== result)
    throw refuted('mismatch', { where: `gate report: ${check.id}`, expected: told.result, found: result });
  if (told.failed.join('\n') !== failedTests.join('\n'))
    throw refuted('mismatch', {
      where: `gate report: ${check.id}`,
      expected: told.failed.slice(0, 20),
      found: failedTests.slice(0, 20),
    });
  if (result === 'FAILED' && check.required)
    throw refuted('policy-deny', {
      member: 'result',
      expected: 'FAILED only of a check that is not required',
      found: `${check.id}: failed, required`,
    });
}
