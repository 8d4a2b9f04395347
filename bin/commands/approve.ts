import { type ApprovalData, approveRun, changedSince } from '../../api/run/approve-run.ts';
import { evaluateHere } from '../../api/run/open-run.ts';
import { openWaitingRun } from '../../api/run/waiting-run.ts';
import { findApproverKey } from '../../attest/approval/sign-approval.ts';
import { gitLine } from '../../workspace/git/git.ts';
import { readApproveOptions, showRequest } from '../approve/options.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { printChanged } from '../report/words.ts';
import { type Printer, styled } from '../terminal/print.ts';

/**
 * `writ approve RUN`: one signed statement on `refs/ai/approvals/<run>/<n>`; the run itself goes on with `writ resume`
 * only.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { print, env, signal, args } = context;
  const { keyFile, ...said } = readApproveOptions(context);
  const waiting = await openWaitingRun(context, args[0] ?? '');
  const key = await findApproverKey(keyFile, waiting.repository, env);
  showRequest(print, waiting, said);
  const changes = await changedSince(waiting, await evaluateHere(waiting));
  printChanged((...parts) => print.note(...parts), changes, waiting.record.subject.candidateTree);
  const { data, keyId, fault, why } = await approveRun(waiting, said, { key, env, signal });
  const isBudget = waiting.record.for === 'budget';
  const remotes = await gitLine(waiting.repository, ['remote']);
  const human = (printer: Printer): void =>
    printApprovals(printer, data, keyId, { isBudget, isShared: remotes !== '' });
  if (fault === undefined) return succeeded({ ...data }, human);
  print.complain(styled('yellow', 'does not count'), `  ${why}`);
  return refused(fault, { ...data }, human);
}

function printApprovals(
  printer: Printer,
  data: ApprovalData,
  keyId: string,
  { isBudget, isShared }: { readonly isBudget: boolean; readonly isShared: boolean },
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
  const state = rejected ? 'rejected' : lacking === 0 ? `${count}: enough` : count;
  if (isBudget) {
    printer.line('the run waits for cost units, which no approval grants');
    printer.line(`  next  writ resume ${data.run_id} --more-cost-units N`);
    return;
  }
  printer.line(data.judged ? state : 'not verified: the policy commit is not in this clone');
  const push = isShared ? 'writ push, then: ' : '';
  printer.line(
    data.judged && !rejected && lacking > 0
      ? `  next  ${push}writ approve ${data.run_id}, by ${lacking} more`
      : `  next  ${push}writ resume ${data.run_id}`,
  );
}
