import type { VerifiedTarget } from '../../../api/verify/verified-target.ts';
import { warningsOf } from '../../../api/verify/warnings.ts';

/** What was found of one target: the verdict, then each check in a line; evidence that holds is counted. */
export function reportText(found: VerifiedTarget): string {
  const { target, commit, runId, report } = found;
  const { checks } = report;
  const evidence = checks.filter(({ id, status }) => id.startsWith('evidence:') && status === 'passed');
  const shown = checks.filter((check) => !evidence.includes(check));
  return [
    `${report.verified ? 'verified' : 'not verified'}  ${target}  ${report.ran} of ${report.expected} checks ran`,
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    ...(runId === undefined ? [] : [`run ${runId}`]),
    ...shown.map(({ id, status, code, detail = {} }) =>
      [
        status,
        id,
        ...(code === undefined || code === status ? [] : [code]),
        ...Object.entries(detail).map(([name, value]) => `${name} ${[value].flat().join(', ')}`),
      ].join('  '),
    ),
    ...(evidence.length === 0 ? [] : [`passed  ${evidence.length} evidence digests`]),
    ...warningsOf(found).map(({ message }) => `warning: ${message}`),
  ].join('\n');
}
