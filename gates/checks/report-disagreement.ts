import type { Finding } from '../../core/contract/finding.ts';
import type { SandboxResult } from '../../core/contract/sandbox.ts';
import type { TestReport } from '../reports/test-report.ts';
import { failure } from './judge-exit.ts';
import { streamSays } from './stream-report.ts';

/** What standard output is called in a sentence. */
export const output = 'standard output';

/** The error where another report has other counts than that of the suite; how many were skipped is no matter. */
export function reportAgainst(
  source: string,
  report: TestReport,
  beside: string,
  other: TestReport,
): Finding | undefined {
  if (report.passed === other.passed && report.failed === other.failed) return undefined;
  const counts = ({ passed, failed }: TestReport): string => `${passed} passed and ${failed} failed`;
  const message = `${source} and ${beside} disagree: ${source} says ${counts(report)}, ${beside} ${counts(other)}`;
  const both = { passed: [report.passed, other.passed], failed: [report.failed, other.failed] };
  return failure('REPORT_DISAGREES', message, { between: [source, beside], ...both });
}

/** What output says against a report that is kept in a file. */
export async function outputAgainst(
  source: string,
  report: TestReport,
  result: Pick<SandboxResult, 'stdout'>,
): Promise<readonly Finding[]> {
  const said = await streamSays(result);
  const against = said?.report && reportAgainst(source, report, output, said.report);
  if (against) return [against];
  if (!said || said.failed <= report.failed) return [];
  const message = `${source} and ${output} disagree: ${source} says ${report.failed} failed, ${output} has ${said.failed} lines \`not ok\``;
  return [
    failure('REPORT_DISAGREES', message, { between: [source, output], failed: [report.failed, said.failed] }),
  ];
}
