import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JudgedHere, judgeHere } from '../../api/run/judge-here.ts';
import { openWaitingRun, type WaitingRun } from '../../api/run/waiting-run.ts';
import { buildApproval } from '../../attest/approval/approval-statement.ts';
import { type ApproverKey, findApproverKey } from '../../attest/approval/approver-key.ts';
import { type SignedApproval, signApproval } from '../../attest/approval/sign-approval.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import type { ApprovalVerdict } from '../../core/contract/approval.ts';
import { storeApproval } from '../../engine/run/record/stored-approvals.ts';
import { execFileBounded } from '../../engine/tool/spawn.ts';
import { type ApproveOptions, readApproveOptions } from '../approve/options.ts';
import { showRequest } from '../approve/show-request.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { type Printer, styled } from '../terminal/print.ts';

/**
 * `writ approve RUN`: one signed statement on `refs/ai/approvals/<run>/<n>`; the run itself goes on with `writ resume`
 * only.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const options = readApproveOptions(context);
  const waiting = await openWaitingRun(context, context.args[0] ?? '');
  const key = await findApproverKey(options.keyFile, waiting.repository, context.env);
  showRequest(context.print, waiting, options);
  const signed = await withKeyFile(key, (keyFile) => sign(context, waiting, options, keyFile));
  const message = `writ: ${options.decision} ${waiting.runId}`;
  const ref = await storeApproval(waiting.store, waiting.runId, signed.document, message);
  return toResult(context, waiting, options, ref, await judgeHere(waiting));
}

function sign(
  { env, signal }: CommandContext,
  { record, repository }: WaitingRun,
  { keyFile: _, expiresInMs, ...said }: ApproveOptions,
  keyFile: string,
): Promise<SignedApproval> {
  const signedAtMs = systemClock.now();
  const statement = buildApproval({
    ...said,
    subject: record.subject,
    signedAtMs,
    ...(expiresInMs === undefined ? {} : { expiresAtMs: signedAtMs + expiresInMs }),
  });
  return signApproval(statement, { run: execFileBounded, keyFile, env, cwd: repository.cwd, signal });
}

/** `ssh-keygen` wants a file also where the key is known as text. */
async function withKeyFile<T>(key: ApproverKey, act: (keyFile: string) => Promise<T>): Promise<T> {
  if ('file' in key) return act(key.file);
  const directory = await mkdtemp(join(tmpdir(), 'writ-key-'));
  try {
    const file = join(directory, 'key.pub');
    await writeFile(file, `${key.publicKey}\n`, { mode: 0o600 });
    return await act(file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function toResult(
  { print }: CommandContext,
  { runId, record }: WaitingRun,
  { decision }: ApproveOptions,
  ref: string,
  { judged, approvers }: JudgedHere,
): CommandResult {
  const counting = approvers.filter(({ status }) => status === 'counts');
  const approved = judged ? counting.filter((one) => one.decision === 'approve').length : null;
  const own = approvers.find(({ source }) => source === ref);
  const data = {
    run_id: runId,
    ref,
    decision,
    judged,
    approved,
    needed: record.needed,
    approvers: approvers.map(({ keyId, signedAt, inProcess, ...verdict }) => ({
      ...verdict,
      ...(inProcess ? { in_process: inProcess } : {}),
      key_id: keyId,
      signed_at: signedAt,
    })),
  };
  const isBudget = record.for === 'budget';
  const human = (printer: Printer): void => printApprovals(printer, data, own?.keyId ?? '', isBudget);
  if (own === undefined || own.status === 'counts' || own.status === 'unjudged')
    return succeeded(data, human);
  print.complain(styled('yellow', 'does not count'), `  ${own.status}: ${own.detail ?? ''}`);
  const error = new WritError('APPROVAL_NOT_COUNTED', {
    message: `your ${decision === 'approve' ? 'approval' : 'rejection'} is stored and does not count (\`${own.status}\`): ${own.detail ?? ''}`,
    detail: { run_id: runId, ref, status: own.status, key_id: own.keyId, principal: own.principal },
    hints: hintsFor(own.status),
  });
  return refused(error, data, human);
}

function hintsFor(status: ApprovalVerdict['status']): readonly string[] {
  if (status === 'author') return ['somebody who had no hand in the change has to approve it'];
  if (status === 'untrusted-signer' || status === 'expired' || status === 'not-yet-valid')
    return [
      'sign with a key that `.writ/allowed_signers` names and lets sign now: `--key FILE`, `--as PRINCIPAL`',
    ];
  return [];
}

function printApprovals(
  printer: Printer,
  data: Pick<JudgedHere, 'judged'> & {
    readonly run_id: string;
    readonly ref: string;
    readonly approved: number | null;
    readonly needed: number;
    readonly approvers: readonly (Omit<
      JudgedHere['approvers'][number],
      'keyId' | 'signedAt' | 'inProcess'
    > & {
      readonly key_id: string;
    })[];
  },
  keyId: string,
  isBudget: boolean,
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
  const state = rejected ? 'rejected' : (data.approved ?? 0) >= data.needed ? `${count}: enough` : count;
  if (isBudget) {
    printer.line('the run waits for cost units, which no approval grants');
    printer.line(`  next  writ resume ${data.run_id} --more-cost-units N`);
    return;
  }
  printer.line(data.judged ? state : 'not judged: the policy commit is not in this clone');
  printer.line(`  next  writ push, then: writ resume ${data.run_id}`);
}
