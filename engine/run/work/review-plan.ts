import { stageNames } from '../../../core/contract/stage.ts';
import type { OpenRun } from '../state/attempt.ts';

/** Tells everyone who reviews plans what will be done, before any of it is. */
export async function reviewPlan({
  identity: { contract, runId, scope },
  means: { engine },
}: Pick<OpenRun, 'identity' | 'means'>): Promise<void> {
  const spec = contract.effective;
  const { summary, objectives } = spec.intent;
  await engine.hooks.plan.review.call({
    runId,
    spec,
    scope,
    tasks: [{ title: summary, steps: objectives }],
    stages: stageNames.filter((stage) => spec.acceptance.verificationPlan[`${stage}Checks`].length > 0),
  });
}
