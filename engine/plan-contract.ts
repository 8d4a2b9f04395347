/* Plans a spec for a person, with the advice of its model. */
import { openTurns } from '../agent/model-loop/model-turns.ts';
import { openTreeTools } from '../agent/workspace-tools/tree-tools.ts';
import { privacyPolicyOf } from '../spec/facts.ts';
import type { WritEngine } from '../spec/writ-engine.ts';
import type { DraftingRequest } from './draft/draft-intent.ts';
import { readDraftEnvironment } from './draft/draft-request.ts';
import { openDrafter, readingAgentOf, requireDrafter } from './draft/reading-agent.ts';
import { openWorker } from './open/open-parties.ts';
import type { TaskAdvice } from './plan/plan-advice.ts';
import { planRun, type RunPlan } from './plan-run.ts';
import { addSpent, type Spent } from './state/spent.ts';
import { requestAdvice, workKeys } from './work/request-advice.ts';

/** A confirmed spec, and a person's comments on earlier plans. */
interface PlanningRequest extends Omit<DraftingRequest, 'said' | 'createdAt' | 'spent'> {
  readonly specBytes: Uint8Array;
  readonly sandbox: string;
  readonly remarks: readonly string[];
  /** What drafting and earlier plans came to. */
  readonly spent: Spent;
}

/** A plan for a person to read: the actions of a run, and its model's approach. */
export interface PlannedContract {
  readonly plan: RunPlan;
  /** For each Task that somebody works at; without steps where the model gave none. */
  readonly advice: readonly TaskAdvice[];
  /** Why the model gave none. */
  readonly unadvised?: string;
  readonly spent: Spent;
}

/**
 * Plans a spec and requests advice from its model. Reads only the base commit. Throws every refusal of a run, and
 * every error of a model call.
 */
export async function planContract(engine: WritEngine, request: PlanningRequest): Promise<PlannedContract> {
  const { source, specBytes, signal, clock, meter, runId, remarks, spent } = request;
  const plan = await planRun(engine, { ...request, specBytes, source, who: 'worker' });
  const [refused] = plan.refusals;
  if (refused !== undefined) throw refused.fault;
  const draft = { revision: 1, tasks: plan.tasks };
  const { contract, scope } = plan;
  const worker = requireDrafter(await openWorker(engine, source), source.worker);
  const environment = await readDraftEnvironment(engine, request);
  await using opened = await openDrafter(engine, worker, request, environment);
  const settings = { clock, ...(meter === undefined ? {} : { meter }) };
  const turns = openTurns({ identity: { contract }, services: { signal, settings } }, opened.model);
  const { repository, base, config } = environment;
  const policy = privacyPolicyOf(contract.effective, config.redaction);
  await using agent = await readingAgentOf(engine, environment, opened.model, {
    runId,
    effective: contract.effective,
    policy,
    sandbox: request.sandbox,
    signal,
    settings,
  });
  const { end, taken } = await requestAdvice({
    drafter: worker,
    plan: draft,
    spec: contract.effective,
    scope,
    remarks,
    cacheKey: `${contract.digest.slice(0, 40)}/plan`,
    hands: openTreeTools({
      engine,
      repository,
      tree: base.tree,
      runId,
      policy,
      signal,
    }),
    turns,
    ...(agent === undefined ? {} : { agent }),
  });
  const none = workKeys(draft).map((key) => ({ key, steps: [], writes: [], after: [], checks: [] }));
  return {
    plan: taken === undefined ? plan : { ...plan, tasks: taken.plan.tasks },
    advice: taken?.advice ?? none,
    ...(end.kind === 'nothing' ? { unadvised: end.reason } : {}),
    spent: addSpent(spent, (agent ?? turns).taken()),
  };
}
