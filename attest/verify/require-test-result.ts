import { encodeId } from '../../core/vcs/ref-name.ts';
import { type EvidenceSource, testResultPath } from './evidence-source.ts';
import { refuted } from './report.ts';
import { readStoredReport } from './shown-verdict.ts';

/**
 * A test result of a run that went through says FAILED only of a check that failed and blocks nothing: not required, and the gate report says the same.
 * `policy-deny` otherwise.
 */
export async function requireTestResult(
  source: EvidenceSource,
  path: string,
  result: 'PASSED' | 'WARNED' | 'FAILED',
): Promise<void> {
  if (result !== 'FAILED') return;
  const { stages } = await readStoredReport(source, 'gate-report.json');
  const checks = stages
    .flatMap((stage) => stage.checks)
    .filter(({ id }) => testResultPath(encodeId(id)) === path);
  const isOptional = checks.length > 0 && checks.every((one) => one.status === 'failed' && !one.required);
  if (isOptional) return;
  const found = checks.map(({ id, status, required }) => `${id}: ${status}${required ? ', required' : ''}`);
  throw refuted('policy-deny', {
    member: 'result',
    expected: 'FAILED only of a check that is not required and failed in the gate report',
    found: found.length > 0 ? found.slice(0, 20) : 'no such check in the gate report',
  });
}
