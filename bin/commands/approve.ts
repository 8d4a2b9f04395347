/* The `writ approve` command: its options, the text that a person sees before signing, and the result. */
import { resolve } from 'node:path';
import { approveRun, changedSince, type SaidApproval } from '../../api/run/approve-run.ts';
import { evaluateHere } from '../../api/run/open-run.ts';
import { ownerWords } from '../../api/run/verdict.ts';
import { openWaitingRun, type WaitingRun } from '../../api/run/waiting-run.ts';
import type { ApprovalData } from '../../api/schemas/run-schema.ts';
import { principalForm } from '../../attest/approval/approval-statement.ts';
import { findApproverKey } from '../../attest/approval/sign-approval.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { printable } from '../../core/base/printable.ts';
import { peopleOf } from '../../store/record/gate-report.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { presentCommits } from '../../workspace/git/read-objects.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { printChanged, toCount } from '../report/words.ts';
import { askYes } from '../terminal/open-output.ts';
import { type Printer, styled } from '../terminal/print.ts';
import { exchange, fetchCommand, pushCommand, requireMoved } from './upkeep.ts';

/**
 * `writ approve RUN`: one signed statement on `refs/ai/approvals/<run>/<n>`; the run itself goes on with `writ resume`
 * only.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { print, env, signal, args } = context;
  const { keyFile, ...said } = readApproveOptions(context);
  const remote = context.options.value('remote');
  if (remote !== undefined) await requireMoved(context, fetchCommand, remote, args[0]);
  const waiting = await openWaitingRun(context, args[0] ?? '').catch((fault: unknown) => {
    if (!isWritError(fault, 'RUN_NOT_FOUND')) throw fault;
    const { message, detail } = fault;
    const hint = 'its author sends it with `writ push`; then `writ approve RUN --remote REMOTE` brings it';
    throw new WritError('RUN_NOT_FOUND', { message, detail, hints: [hint] });
  });
  if (remote !== undefined) await fetchPolicy(context, waiting, remote);
  const key = await findApproverKey(keyFile, waiting.repository, env);
  showRequest(print, waiting, said);
  const changes = await changedSince(waiting, await evaluateHere(waiting));
  printChanged((...parts) => print.note(...parts), changes, waiting.record.subject.candidateTree);
  await requireYes(context, waiting, said);
  const { data, keyId, fault, why } = await approveRun(waiting, said, { key, env, signal });
  if (remote !== undefined && fault === undefined) await requireMoved(context, pushCommand, remote, args[0]);
  const isBudget = waiting.record.for === 'budget';
  const remotes = await gitLine(waiting.repository, ['remote']);
  const human = (printer: Printer): void =>
    printApprovals(printer, data, keyId, {
      isBudget,
      isShared: remotes !== '' && remote === undefined,
      isSent: remote !== undefined,
    });
  if (fault === undefined) return succeeded({ ...data }, human);
  print.complain(styled('yellow', 'does not count'), `  ${why}`);
  return refused(fault, { ...data }, human);
}

/** On a terminal the person confirms what was shown. APPROVAL_UNCONFIRMED. */
async function requireYes(
  context: CommandContext,
  { runId }: WaitingRun,
  { decision }: SaidApproval,
): Promise<void> {
  const { interactive, hasScreen, options } = context;
  if (!interactive || !hasScreen || options.flag('yes')) return;
  if (await askYes(context, `${decision} it?`)) return;
  throw new WritError('APPROVAL_UNCONFIRMED', {
    detail: { run_id: runId },
    hints: ['look at the change, then approve it again; `--yes` skips the question'],
  });
}

/** Without the policy commit no one here can say whose approval counts. REMOTE_FAILED. */
async function fetchPolicy(
  context: CommandContext,
  { repository, report: { policyCommit } }: WaitingRun,
  remote: string,
): Promise<void> {
  if (policyCommit === undefined) return;
  if ((await presentCommits(repository, [policyCommit])).has(policyCommit)) return;
  await exchange(context, repository, remote, 'fetch', [policyCommit]);
}

function printApprovals(
  printer: Printer,
  data: ApprovalData,
  keyId: string,
  {
    isBudget,
    isShared,
    isSent,
  }: { readonly isBudget: boolean; readonly isShared: boolean; readonly isSent: boolean },
): void {
  printer.line(`signed with ${keyId}, stored as ${data.ref}`);
  printer.table(
    data.approvers.map(({ status, decision, principal, key_id, detail }) => [
      styled(status === 'counts' ? (decision === 'approve' ? 'green' : 'red') : 'yellow', decision),
      principal === '' ? key_id : principal,
      status,
      detail ?? '',
    ]),
  );
  const rejected = data.approvers.some(
    ({ status, decision }) => status === 'counts' && decision === 'reject',
  );
  const count = `${data.approved} of ${data.needed} approvals`;
  const lacking = Math.max(0, data.needed - (data.approved ?? 0));
  const unowned = (data.owners ?? []).filter(({ approved }) => approved.length === 0);
  const short = (data.groups ?? []).filter(({ approved, needed }) => approved.length < needed);
  const isEnough = lacking === 0 && unowned.length === 0 && short.length === 0;
  const state = rejected ? 'rejected' : isEnough ? `${count}: enough` : count;
  if (isBudget) {
    printer.line('the run waits for cost units, which no approval grants');
    printer.line(`  next  writ resume ${data.run_id} --more-cost-units N`);
    return;
  }
  printer.line(data.judged ? state : 'not verified: the policy commit is not in this clone');
  if (data.judged) for (const one of unowned) printer.line(ownerWords(one));
  if (data.judged)
    for (const { group, needed, approved } of short)
      printer.line(`${approved.length} of ${needed} people of the group \`${printable(group)}\` approved`);
  const push = isShared ? 'writ push, then: ' : '';
  const byAuthor = `where the run was made: writ fetch, then writ resume ${data.run_id}`;
  const resume = isSent
    ? `in CI: writ ci --resume ${data.run_id} --land; without CI, ${byAuthor}`
    : isShared
      ? `writ resume ${data.run_id} if the run was made here; else writ push, and ${byAuthor}`
      : `writ resume ${data.run_id}`;
  printer.line(
    data.judged && !rejected && !isEnough
      ? `  next  ${push}writ approve ${data.run_id}, by ${lacking > 0 ? `${lacking} more` : unowned.length > 0 ? 'an owner' : 'a person of the group'}`
      : `  next  ${resume}`,
  );
}

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
function readApproveOptions({ options, cwd }: Pick<CommandContext, 'options' | 'cwd'>): ApproveOptions {
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
function showRequest(
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
  const start = (digest: string): string => digest.slice(0, 12);
  const rows: readonly (readonly [string, string])[] = [
    ['made by', authors.length === 0 ? '(no one is named)' : authors.join(', ')],
    ...(record.for === 'approval' ? [] : [['waits for', 'a decision about its budget'] as const]),
    ['changes', `${toCount(files.length, 'file')}, +${added} -${deleted} lines`],
    ...(record.owners ?? []).map(({ owners, count, pattern }) => {
      const names = owners.slice(0, 10).join(', ');
      return ['owned by', `${names}: ${toCount(count, 'file')} of \`${pattern}\``] as const;
    }),
    ['stages', report.stages.map(({ stage, status }) => `${stage} ${status}`).join(', ')],
    ...(report.policyCommit === undefined || report.policyCommit === subject.baseCommit
      ? []
      : [
          [
            'policy',
            `of ${report.policyRef === undefined ? '' : `${report.policyRef}, `}commit ${report.policyCommit}`,
          ] as const,
        ]),
    ['see it', `git diff ${subject.baseCommit ?? ''} ${subject.candidateTree}`.replace('  ', ' ')],
    ['run', runId],
    [
      'signs',
      `spec ${start(subject.specDigest)}, patch ${start(subject.patchDigest)}, results ${start(subject.gateReportDigest)} (SHA-256)`,
    ],
  ];
  for (const notice of report.notices ?? []) print.note('  ', styled('yellow', 'note'), `  ${notice}`);
  for (const [name, value] of rows) print.note(`  ${name.padEnd(10)} ${value}`);
}
