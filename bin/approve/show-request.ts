import type { SaidApproval } from '../../api/run/approve-run.ts';
import type { WaitingRun } from '../../api/run/waiting-run.ts';
import { peopleOf } from '../../store/record/gate-report.ts';
import { toCount } from '../report/words.ts';
import { type Printer, styled } from '../terminal/print.ts';

/** Prints to stderr what will be signed, before signing. */
export function showRequest(
  print: Printer,
  { record, report, runId }: WaitingRun,
  { decision }: SaidApproval,
): void {
  const { subject } = record;
  const authors = peopleOf(report.authorship);
  const files = report.patch?.files ?? [];
  const added = files.reduce((sum, file) => sum + file.linesAdded, 0);
  const deleted = files.reduce((sum, file) => sum + file.linesDeleted, 0);
  print.note(
    styled(decision === 'approve' ? 'green' : 'red', decision === 'approve' ? 'approving' : 'rejecting'),
    `  ${record.summary}`,
  );
  const rows: readonly (readonly [string, string])[] = [
    ['run', runId],
    ['waits for', record.for === 'approval' ? 'approval' : 'a decision about its budget'],
    ['contract', `${record.specId}  sha256:${subject.specDigest}`],
    ['base', subject.baseCommit ?? '(none: an unborn branch)'],
    ...(report.policyCommit === undefined || report.policyCommit === subject.baseCommit
      ? []
      : [
          [
            'policy',
            `${report.policyCommit}${report.policyRef === undefined ? '' : `  ${report.policyRef}`}`,
          ] as const,
        ]),
    ['candidate', `tree ${subject.candidateTree}`],
    ['patchset', `sha256:${subject.patchDigest}`],
    ['made by', authors.length === 0 ? '(no one is named)' : authors.join(', ')],
    ['changes', `${toCount(files.length, 'file')}, +${added} -${deleted} lines`],
    ['stages', report.stages.map(({ stage, status }) => `${stage} ${status}`).join(', ')],
    ['verdict', `sha256:${subject.gateReportDigest}`],
    ['see it', `git diff ${subject.baseCommit ?? ''} ${subject.candidateTree}`.replace('  ', ' ')],
  ];
  for (const notice of report.notices ?? []) print.note('  ', styled('yellow', 'note'), `  ${notice}`);
  for (const [name, value] of rows) print.note(`  ${name.padEnd(10)} ${value}`);
}
