import { readSpecFile } from '../../api/intent/read-spec.ts';
import { toPlanData } from '../../api/run/replay-data.ts';
import { systemClock } from '../../core/base/clock.ts';
import { planRun, type RunPlan } from '../../engine/plan-run.ts';
import { readSource, runWishes, sourceGiven } from '../command-parts/change-source.ts';
import { type CommandContext, type CommandResult, refused, succeeded } from '../command-parts/command.ts';
import { openEngine, openPluginAccess } from '../command-parts/engine.ts';
import { openReaching } from '../command-parts/reach-provider.ts';
import { printSpec } from '../report/human.ts';
import { type Printer, styled } from '../terminal/print.ts';

/**
 * `writ plan F`: shows what a run would do and every reason to refuse it before work starts. Same exit code as the
 * run. Runs no check and writes no file.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options, args, repoPath, cwd } = context;
  const [spec = ''] = args;
  const given = sourceGiven(context, spec);
  const { bytes: specBytes, expanded } = await readSpecFile(context, spec);
  const { reach, secrets, ...reaching } = await openReaching(context, { dry: true });
  const source = await readSource(context, given, reaching);
  await using engine = await openEngine(context, { ephemeralKey: options.flag('ephemeral-key') });
  const plan = await planRun(engine, {
    repositoryPath: repoPath ?? cwd,
    specBytes,
    who: options.value('for') === 'patch' ? 'patch' : 'worker',
    ...(source === undefined ? {} : { source }),
    ...runWishes(options),
    reach,
    secrets,
    pluginAccess: openPluginAccess(context, reaching),
    clock: systemClock,
  });
  const [first] = plan.refusals;
  const data = toPlanData(plan);
  const human = (printer: Printer): void => {
    if (expanded && !printer.quiet) printSpec(printer, expanded);
    printPlan(printer, plan);
  };
  return first === undefined ? succeeded(data, human) : refused(first.fault, data, human);
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
  for (const { stage, checks, fromPolicy, rules, stageChecks, artifacts } of plan.stages) {
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
    for (const { name, plugin } of artifacts) printer.line(`  makes ${name} by ${plugin}  of every change`);
    if (rules.length > 0) printer.line(styled('dim', `  then ${rules.join(', ')}`));
    for (const { name, plugin } of stageChecks) printer.line(`  asks ${name} of plugin ${plugin}`);
  }
  if (plan.evidence.length > 0) {
    printer.line();
    printer.line(`sources are evaluated by ${plan.evidence.join(', ')} as well`);
  }
  printer.line();
  printer.line(
    `content is kept ${plan.retentionDays} days; ${ledger.filter(({ asked }) => asked).length} requirements of the spec apply`,
  );
  for (const id of unenforced)
    printer.line(
      styled('red', 'not enforced'),
      plan.for === 'patch' ? `  ${id}: a run is refused` : `  ${id}: a run in which a model works is refused`,
    );
  for (const { fault } of plan.refusals)
    printer.line(styled('red', 'refused'), `  ${fault.code}  ${fault.message}`);
  for (const issue of [...contract.warnings, ...plan.notices])
    printer.line(styled('yellow', issue.severity), `  ${issue.code}  ${issue.path}  ${issue.message}`);
}
