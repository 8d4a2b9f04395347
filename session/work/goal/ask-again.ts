import { readDraft } from '../../../engine/draft/kept-draft.ts';
import { planRun } from '../../../engine/plan-run.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { askChoice, type MadePlan, requireDraft } from '../plan-step.ts';
import type { StepEnd, TurnScope } from '../turn-scope.ts';

/** Asks what is to be done with the plan that stands; no model is asked for it. */
export async function askAgain(
  scope: TurnScope,
  plan: MadePlan,
  networkAccess: 'allow' | 'deny',
): Promise<StepEnd> {
  const { engine, source, repositoryPath, run, sandbox, clock } = scope.setting;
  const { runId, repair } = plan.run;
  const kept = requireDraft(
    readDraft(await openRepository(repositoryPath, { onlyReads: true }), runId),
    runId,
  );
  const planned = await planRun(engine, {
    ...run,
    clock,
    repositoryPath,
    source,
    sandbox,
    who: 'worker',
    specBytes: kept.specBytes,
  });
  await askChoice(scope, plan, { plan: planned }, { runId, remarks: [], repair, networkAccess });
  return 'waits';
}
