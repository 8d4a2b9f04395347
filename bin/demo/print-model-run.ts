import type { VerifiedTarget } from '../../api/verify/verified-target.ts';
import { readAsked } from '../../engine/run/draft/asked.ts';
import { type Printer, styled } from '../terminal/print.ts';
import type { ModelRun } from './model-run.ts';

/** A request that a model fulfilled, and whether the commit verifies. */
export interface ModelPart extends ModelRun {
  readonly verified: readonly VerifiedTarget[];
}

/** True where the commit of the model's run holds in every claim. */
function isModelVerified({ verified }: ModelPart): boolean {
  return verified.length > 0 && verified.every(({ report }) => report.verified);
}

/** What was asked, what the model drafted of it, and how it went, in a few lines. */
export function printModelRun(printer: Printer, part: ModelPart): void {
  const { drafted, view } = part;
  const { document, effective } = drafted.contract;
  const { said = [], provider = '', model = '', turns = 0 } = readAsked(document) ?? {};
  const { decision, retries } = view;
  printer.line('  asked     ', said[0] ?? '');
  printer.line(
    '  drafted   ',
    `${effective.intent.objectives.length} objectives, ${effective.risk.level} risk, in ${turns} turns of ${provider} ${model}, recorded`,
  );
  for (const repair of drafted.repairs) printer.line(styled('dim', `             ${repair}`));
  for (const { failed, tasks, reason } of retries?.first ?? [])
    printer.line('  tried again', styled('dim', ` ${failed} ${tasks.join(', ')}: ${reason}`));
  const commit = decision?.commitSha === undefined ? '' : `  ${decision.commitSha} on ${view.targetRef}`;
  printer.line(
    '  ',
    styled(decision?.type === 'commit' ? 'green' : 'red', decision?.type ?? view.state),
    commit,
    isModelVerified(part) ? styled('green', '  verified') : styled('red', '  not verified'),
  );
}

/** The same as data. */
export function toModelData(part: ModelPart) {
  const { drafted, view } = part;
  const { document, effective, digest } = drafted.contract;
  const { said = [], provider = '', model = '', turns = 0 } = readAsked(document) ?? {};
  return {
    run_id: view.runId,
    request: said[0] ?? '',
    provider,
    model,
    draft_turns: turns,
    spec_digest: digest,
    risk_level: effective.risk.level,
    repairs: drafted.repairs,
    objectives: effective.intent.objectives,
    retries: view.retries?.count ?? 0,
    decision: view.decision?.type ?? null,
    commit_sha: view.decision?.commitSha ?? null,
    verified: isModelVerified(part),
  };
}

/** The first thing of the model's run that did not go as it must. */
export function whatIsWrongWithModel(part: ModelPart): string | undefined {
  const { view, drafted } = part;
  if (view.decision?.type !== 'commit')
    return `the model's change was not committed: ${view.decision?.rationale ?? view.state}`;
  if (view.retries?.count !== 1) return 'the failing check was not handed to a second attempt';
  if (drafted.contract.effective.constraints.security.networkPolicy !== 'deny')
    return 'the draft was given the network';
  return isModelVerified(part) ? undefined : "the model's commit does not verify";
}
