import { WritError } from '../../../core/base/errors.ts';
import type { PlanDraft } from '../../../core/contract/plan-draft.ts';
import { type TaskAdvice, withAdvice } from '../../plan/plan-advice.ts';
import type { OpenRun } from '../state/attempt.ts';
import { policyOf } from '../state/attempt-policy.ts';
import { keepAdviceSpent } from '../state/spent.ts';
import { askAdvice, workKeys } from './ask-advice.ts';
import { openTreeHands } from './hands/tree-hands.ts';
import { openTurns } from './turns/open-turns.ts';

/** In the record: what the model was asked of the plan, and what came of it. */
const adviceFile = 'plan-advice.json';

/**
 * The plan with what the worker's model says of it, where it has several Tasks and there is a model. Advice that is not
 * usable leaves the contract's own plan; either is recorded. What asking the model throws stops the run, to be resumed.
 * What a person confirmed before the run began is taken as it is, and nobody is asked.
 */
export async function advisePlan(run: OpenRun, draft: PlanDraft): Promise<PlanDraft> {
  const { worker, model, scratch, engine, signal, advice } = run.means;
  const { contract, scope, runId } = run.identity;
  if (advice !== undefined) return confirmedPlan(run, draft, advice);
  if (worker?.draft === undefined || model === undefined || workKeys(draft).length < 2) return draft;
  // A program that works by itself plans each attempt by itself, where it is told to.
  if (model.agent !== undefined) return draft;
  const turns = openTurns(run, model);
  const { end, taken } = await askAdvice({
    drafter: { draft: worker.draft },
    plan: draft,
    spec: contract.effective,
    scope,
    cacheKey: `${contract.digest.slice(0, 40)}/plan`,
    hands: openTreeHands({
      engine,
      repository: scratch,
      tree: run.ground.base.tree,
      runId,
      policy: policyOf(run),
      signal,
    }),
    turns,
  });
  const { notices, requests, ...spent } = turns.taken();
  await keepAdviceSpent(run.means.steps, spent);
  await keep(run, {
    taken: end.kind === 'taken',
    ...(end.kind === 'nothing' ? { reason: end.reason } : {}),
    provider: model.provider.name,
    model: model.model,
    ...spent,
    notices,
    requests,
  });
  return taken?.plan ?? draft;
}

/** PLAN_INVALID where what was confirmed does not fit the contract: nobody confirmed another one. */
async function confirmedPlan(
  run: OpenRun,
  draft: PlanDraft,
  advice: readonly TaskAdvice[],
): Promise<PlanDraft> {
  const { contract, scope } = run.identity;
  const made = withAdvice(draft, advice, { spec: contract.effective, scope });
  if ('faults' in made)
    throw new WritError('PLAN_INVALID', {
      message: `the confirmed plan is none of this contract: ${made.faults[0] ?? ''}`,
      detail: { faults: made.faults },
    });
  await keep(run, { taken: true, confirmed: true });
  return made;
}

async function keep(run: OpenRun, told: object): Promise<void> {
  await run.means.record.put([[adviceFile, Buffer.from(`${JSON.stringify(told, null, 1)}\n`)]]);
}
