import { planRun, type RunPlan } from '../../core/run/plan-run.ts';
import { type CommandContext, type CommandData, type CommandResult, succeeded } from '../command.ts';
import { openEngine } from '../open-engine.ts';
import { type Printer, styled } from '../print.ts';
import { readSpecBytes } from '../read-spec.ts';

/** `writ plan F`: what a run would do. Nothing is run and nothing is written. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const bytes = await readSpecBytes(context, context.args[0] ?? '');
  await using engine = await openEngine(context);
  const plan = await planRun(engine, bytes, context.repoPath ?? context.cwd);
  return succeeded(toPlanData(plan), (printer) => printPlan(printer, plan));
}

function toPlanData(plan: RunPlan): CommandData {
  const { contract, scope } = plan;
  return {
    digest: contract.digest,
    effective: contract.effective,
    issues: contract.warnings,
    tasks: plan.tasks.map(({ acceptanceCriteria, ...task }) => ({
      ...task,
      acceptance_criteria: acceptanceCriteria,
    })),
    edges: plan.edges,
    scope: { write: scope.write, forbidden: scope.forbidden, whole_repository: scope.wholeRepository },
    stages: plan.stages.map(({ stage, checks, rules }) => ({
      stage,
      checks: checks.map(({ id }) => id),
      rules,
    })),
    patch_rules: plan.patchRules,
    retention_days: plan.retentionDays,
    ledger: plan.ledger.map(({ id, enforcedBy, asked }) => ({ id, enforced_by: enforcedBy, asked })),
    unenforced: plan.unenforced,
  };
}

function printPlan(printer: Printer, plan: RunPlan): void {
  const { contract, scope, ledger, unenforced } = plan;
  printer.line(styled('bold', contract.effective.intent.summary), `  sha256:${contract.digest}`);
  printer.line();
  printer.line('scope    ', scope.wholeRepository ? 'the whole repository' : scope.write.join('  '));
  if (scope.forbidden.length > 0) printer.line('never    ', scope.forbidden.join('  '));
  printer.line('patch    ', plan.patchRules.join('  '));
  for (const { stage, checks, rules } of plan.stages) {
    printer.line();
    printer.line(styled('bold', stage), checks.length === 0 ? '  no check listed' : '');
    printer.table(
      checks.map(({ id, kind, command, timeoutSeconds }) => [
        '  ',
        id,
        kind,
        command ?? '',
        `${timeoutSeconds} s`,
      ]),
    );
    if (rules.length > 0) printer.line(styled('dim', `  then ${rules.join(', ')}`));
  }
  printer.line();
  printer.line(
    `content is kept ${plan.retentionDays} days; ${ledger.filter(({ asked }) => asked).length} contract rows asked for`,
  );
  for (const id of unenforced) printer.line(styled('red', 'not enforced'), `  ${id}: a run would be refused`);
  for (const issue of contract.warnings)
    printer.line(styled('yellow', issue.severity), `  ${issue.code}  ${issue.path}  ${issue.message}`);
}
