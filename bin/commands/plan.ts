import { readSpecBytes } from '../../api/intent/read-spec-bytes.ts';
import { toPlanData } from '../../api/run/plan-data.ts';
import { planRun, type RunPlan } from '../../engine/run/plan-run.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { openEngine } from '../command-parts/open-engine.ts';
import { type Printer, styled } from '../terminal/print.ts';

/** `writ plan F [--for patch|worker]`: what a run would do. Nothing is run and nothing is written. */
export async function run(context: CommandContext): Promise<CommandResult> {
  const bytes = await readSpecBytes(context, context.args[0] ?? '');
  await using engine = await openEngine(context);
  const who = context.options.value('for') === 'patch' ? 'patch' : 'worker';
  const plan = await planRun(engine, bytes, context.repoPath ?? context.cwd, who);
  return succeeded(toPlanData(plan), (printer) => printPlan(printer, plan));
}

const maxNamed = 8;

function printTask(
  printer: Printer,
  { key, kind, steps, predictedWrites, dependsOn }: RunPlan['tasks'][number],
): void {
  const after = dependsOn.length === 0 ? '' : `  after ${firstFew(dependsOn)}`;
  printer.line(styled('bold', key), styled('dim', after));
  if (kind === 'gate') {
    printer.line('  ', firstFew(steps));
    return;
  }
  for (const step of steps) printer.line('  ', step);
  const writes =
    predictedWrites === undefined ? 'writes are not known before' : `writes ${firstFew(predictedWrites)}`;
  printer.line(styled('dim', `  ${writes}`));
}

function firstFew(names: readonly string[]): string {
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  return `${names.slice(0, maxNamed).join(', ')}${more}`;
}

function printPlan(printer: Printer, plan: RunPlan): void {
  const { contract, scope, ledger, unenforced } = plan;
  printer.line(styled('bold', contract.effective.intent.summary), `  sha256:${contract.digest}`);
  printer.line();
  printer.line('scope    ', scope.wholeRepository ? 'the whole repository' : scope.write.join('  '));
  if (scope.forbidden.length > 0) printer.line('never    ', scope.forbidden.join('  '));
  printer.line('patch    ', plan.patchRules.join('  '));
  printer.line();
  for (const task of plan.tasks) printTask(printer, task);
  for (const { stage, checks, fromPolicy, rules } of plan.stages) {
    printer.line();
    printer.line(styled('bold', stage), checks.length === 0 ? '  no check listed' : '');
    printer.table(
      checks.map(({ id, kind, command, timeoutSeconds }) => [
        '  ',
        id,
        kind,
        command ?? '',
        `${timeoutSeconds} s${fromPolicy.includes(id) ? '  of every change' : ''}`,
      ]),
    );
    if (rules.length > 0) printer.line(styled('dim', `  then ${rules.join(', ')}`));
  }
  printer.line();
  printer.line(
    `content is kept ${plan.retentionDays} days; ${ledger.filter(({ asked }) => asked).length} contract rows asked for`,
  );
  const refusedRun = plan.for === 'patch' ? 'a run of a supplied patch' : 'a run of a worker';
  for (const id of unenforced)
    printer.line(styled('red', 'not enforced'), `  ${id}: ${refusedRun} would be refused`);
  for (const issue of contract.warnings)
    printer.line(styled('yellow', issue.severity), `  ${issue.code}  ${issue.path}  ${issue.message}`);
}
