/* The options of `writ approve`, and the text that a person sees before signing. */
import { resolve } from 'node:path';
import type { SaidApproval } from '../../api/run/approve-run.ts';
import type { WaitingRun } from '../../api/run/waiting-run.ts';
import { principalForm } from '../../attest/approval/approval-statement.ts';
import { WritError } from '../../core/base/errors.ts';
import { peopleOf } from '../../store/record/gate-report.ts';
import type { CommandContext } from '../command-parts/command.ts';
import { toCount } from '../report/words.ts';
import { type Printer, styled } from '../terminal/print.ts';

/** Validated command-line options of an approval. */
interface ApproveOptions extends SaidApproval {
  /** Absolute. */
  readonly keyFile?: string;
}

const minute = 60_000;
const units: Readonly<Record<string, number>> = {
  m: minute,
  h: 60 * minute,
  d: 1440 * minute,
  w: 10_080 * minute,
};
const maxExpiryMs = 366 * 1440 * minute;

/** Reads the options of `writ approve`; USAGE names the one that is wrong. */
export function readApproveOptions({
  options,
  cwd,
}: Pick<CommandContext, 'options' | 'cwd'>): ApproveOptions {
  const key = options.value('key');
  const expires = options.value('expires');
  return {
    decision: options.flag('reject') ? 'reject' : 'approve',
    ...(key === undefined ? {} : { keyFile: resolve(cwd, key) }),
    ...text(
      options.value('as'),
      'as',
      'principal',
      principalForm,
      'one person, as the allowed signers name them',
    ),
    ...text(options.value('role'), 'role', 'role', /^[^\p{Cc}]{1,64}$/u, '1 to 64 characters on one line'),
    ...text(
      options.value('comment'),
      'comment',
      'comment',
      /^(?:[^\p{Cc}]|[\n\t]){1,4000}$/u,
      '1 to 4000 characters without control characters',
    ),
    ...(expires === undefined ? {} : { expiresInMs: parseDuration(expires) }),
  };
}

function text<K extends string>(
  value: string | undefined,
  option: string,
  key: K,
  form: RegExp,
  expected: string,
): { readonly [P in K]?: string } {
  if (value === undefined) return {};
  if (form.test(value) && value.isWellFormed()) return { [key]: value } as { readonly [P in K]: string };
  throw usage(option, expected, value);
}

function parseDuration(value: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([mhdw])$/.exec(value) ?? [];
  const ms = Number(count) * (units[unit] ?? 0);
  if (ms > 0 && ms <= maxExpiryMs) return ms;
  throw usage('expires', 'a duration such as `30m`, `12h`, `7d` or `2w`, at most 366 days', value);
}

function usage(option: string, expected: string, found: string): WritError {
  return new WritError('USAGE', {
    message: `\`--${option}\`: expected ${expected}, found \`${found.slice(0, 80)}\``,
    detail: { option, expected },
  });
}

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
