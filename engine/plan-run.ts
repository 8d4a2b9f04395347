/* Plans a run without doing any of it: its actions, its refusals, and its model's advice if a person asks for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTurns } from '../agent/model-loop/model-turns.ts';
import { openTreeTools } from '../agent/workspace-tools/tree-tools.ts';
import type { WritError } from '../core/base/errors.ts';
import { uuidV7 } from '../core/base/ids.ts';
import { type Issue, warning } from '../core/interfaces/finding.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../core/interfaces/patch-set.ts';
import type { PlannedTask } from '../core/interfaces/plan.ts';
import { type StageName, stageNames } from '../core/interfaces/stage.ts';
import { submoduleNotice, submodulePaths } from '../readers/reports/missing-dependencies.ts';
import type { WritEngine } from '../spec/contract-rows.ts';
import { privacyPolicyOf } from '../spec/facts.ts';
import { runGit } from '../workspace/git/git.ts';
import { keepObjectReaders } from '../workspace/git/object-reader.ts';
import { readBlob } from '../workspace/git/read-objects.ts';
import { createScratch } from '../workspace/git/scratch.ts';
import type { DraftingRequest } from './draft/draft-intent.ts';
import { readDraftEnvironment, readDraftInstructions } from './draft/draft-request.ts';
import { openDrafter, readingAgentOf, requireDrafter } from './draft/reading-agent.ts';
import type { AdmittedContract } from './intent/admit-contract.ts';
import { openWorker } from './open/open-parties.ts';
import {
  type OpeningCheck,
  type OpeningPlace,
  type OpeningRequest,
  openChecks,
  resultsOf,
} from './open/opening.ts';
import { checkRequest, checkRest } from './open/opening-sequence.ts';
import { noticesOf } from './open/plan-environment.ts';
import type { TaskAdvice } from './plan/plan-advice.ts';
import { type PlanFor, planTasks } from './plan/plan-tasks.ts';
import { effectiveScope } from './plan/scope.ts';
import { edgesOf } from './record/work-objects.ts';
import { retentionDaysOf } from './state/evidence.ts';
import type { ChangeSource } from './state/run-request.ts';
import { addSpent, type Spent } from './state/spent.ts';
import { requestAdvice, workKeys } from './work/request-advice.ts';

/** One row of the spec: which plugins enforce it here, and whether this spec needs it. */
interface PlannedRow {
  readonly id: string;
  readonly enforcedBy: readonly string[];
  readonly asked: boolean;
}

/** What a plugin brings; of an artifact, the producer that makes it. */
interface NamedPart {
  readonly name: string;
  readonly plugin: string;
}

/** One reason for which a run would be refused before any work. */
interface Refusal {
  readonly check: OpeningCheck;
  readonly fault: WritError;
}

/** The request of a run to plan, as far as it is known. */
export interface PlanRequest extends OpeningRequest {
  /** The change, if it exists; its own preflight checks then run too. */
  readonly source?: ChangeSource;
  /** Who makes a change that does not exist yet; `source` implies it otherwise. */
  readonly who: PlanFor;
}

/** What a run would do, without doing any of it. */
export interface RunPlan {
  /** With the checks that the policy commit adds. */
  readonly contract: AdmittedContract;
  /** The commit of that configuration; absent if no such commit exists yet. */
  readonly policyCommit?: string;
  readonly scope: Scope;
  readonly for: PlanFor;
  /** Empty without a plan. */
  readonly tasks: readonly PlannedTask[];
  /** [before, after] by task key. */
  readonly edges: readonly (readonly [string, string])[];
  readonly stages: readonly {
    readonly stage: StageName;
    readonly checks: readonly EffectiveCheck[];
    /** Ids of those that the policy commit demands of every change. */
    readonly fromPolicy: readonly string[];
    readonly rules: readonly string[];
    /** Plugins' stage checks that run there, whatever the spec lists. */
    readonly stageChecks: readonly NamedPart[];
    /** What the policy commit has plugins make of every change: the stage fails without it. */
    readonly artifacts: readonly NamedPart[];
  }[];
  /** Evidence policies of plugins, in the order in which they evaluate sources. */
  readonly evidence: readonly string[];
  readonly patchRules: readonly string[];
  readonly retentionDays: number;
  readonly ledger: readonly PlannedRow[];
  /** Rows that this spec needs and no plugin enforces; for a worker, model rows too. */
  readonly unenforced: readonly string[];
  /** Refusals of a run before any work, in the order of the checks. */
  readonly refusals: readonly Refusal[];
  /** Notices that do not refuse the run. */
  readonly notices: readonly Issue[];
}

/**
 * Returns the actions of a run and all its refusals before any work, from the same checks in the same order
 * (`open/opening-sequence.ts`). Throws if the spec cannot be parsed, because no plan exists then.
 */
export async function planRun(engine: WritEngine, request: PlanRequest): Promise<RunPlan> {
  const refusals: Refusal[] = [];
  const known = await openDry(engine, request, refusals);
  const { admitted, contract = admitted } = known;
  if (contract === undefined) throw refusals[0]?.fault;
  const plan = toPlan(engine, { ...known, contract }, request, refusals);
  return { ...plan, notices: [...plan.notices, ...(await submoduleNotices(known))] };
}

/** Notices for the submodules of the base commit. */
async function submoduleNotices({ repository, landing }: KnownOpening): Promise<readonly Issue[]> {
  if (repository === undefined || landing === undefined) return [];
  const { tree } = landing.base;
  const paths = submodulePaths(await readBlob(repository, tree, '.gitmodules'));
  if (paths.length === 0) return [];
  const listed = await runGit(repository, ['ls-tree', '-z', tree, '--', ...paths]);
  return listed
    .toString('utf8')
    .split('\0')
    .flatMap((line) => /^160000 commit [0-9a-f]+\t(.+)$/s.exec(line)?.[1] ?? [])
    .map((path) => warning('SUBMODULE_EMPTY', '', submoduleNotice(path)));
}

type KnownOpening = Awaited<ReturnType<typeof openDry>>;

/** Runs every check of an opening, and returns the results that there are. */
async function openDry(engine: WritEngine, request: PlanRequest, refusals: Refusal[]) {
  const { source } = request;
  const kind = source?.kind ?? request.who;
  const box = await mkdtemp(join(tmpdir(), 'writ-plan-'));
  try {
    await using readers = keepObjectReaders();
    const place: OpeningPlace = {
      dry: true,
      keep: (repository) => readers.keep(repository),
      pluginCache: () => join(box, 'plugins'),
      makeScratch: async (repository) => readers.keep(await createScratch(join(box, 'scratch'), repository)),
    };
    const check = openChecks((refused, fault) => refusals.push({ check: refused, fault }));
    const runId = uuidV7(request.clock.now());
    const question = { engine, request, place, runId, kind, ...(source === undefined ? {} : { source }) };
    const asked = await checkRequest(check, question);
    return resultsOf({ ...asked, ...(await checkRest(check, question, asked)) });
  } finally {
    await rm(box, { recursive: true, force: true });
  }
}

function toPlan(
  engine: WritEngine,
  known: KnownOpening & { readonly contract: AdmittedContract },
  { who: asked, source }: PlanRequest,
  refusals: readonly Refusal[],
): RunPlan {
  const { contract, landing, judges } = known;
  const spec = contract.effective;
  const who = source === undefined ? asked : source.kind === 'worker' ? 'worker' : 'patch';
  const { scope, tasks, edges } = drafted(known, spec, who);
  const context = { model: who === 'worker' && known.worker?.usesModel !== false };
  const wanted = new Set(engine.ledger.asked(spec, context));
  const rules = judges?.rules ?? engine.rules;
  const policyCommit = landing?.policy.commit;
  return {
    contract,
    ...(policyCommit === undefined ? {} : { policyCommit }),
    scope,
    for: who,
    tasks,
    edges,
    stages: stageNames.map((stage) => ({
      stage,
      checks: checksOf(spec, stage),
      fromPolicy: checksOf(spec, stage).flatMap(({ id }) => (contract.mandatory.includes(id) ? [id] : [])),
      rules: rules.at(stage, spec).map(({ id }) => id),
      stageChecks: [...(judges?.plugins.stageChecks.values() ?? [])].flatMap(({ name, plugin, stages }) =>
        stages.includes(stage) ? [{ name, plugin }] : [],
      ),
      artifacts: [...(judges?.config.artifacts ?? [])].flatMap(([name, made]) =>
        made.stage === stage ? [{ name, plugin: made.plugin }] : [],
      ),
    })),
    evidence: judges?.config.evidence.plugins ?? [],
    patchRules: rules.at('patch', spec).map(({ id }) => id),
    retentionDays: retentionDaysOf(spec),
    ledger: engine.ledger.entries.map(({ id, enforcedBy }) => ({ id, enforcedBy, asked: wanted.has(id) })),
    unenforced: engine.ledger.unenforced(spec, context),
    refusals,
    notices: noticesOf(known),
  };
}

/** Returns the plan; without a repository, a plan from the spec's text alone. */
function drafted(
  { planned, landing }: KnownOpening,
  spec: EffectiveIntentSpec,
  who: PlanFor,
): Pick<RunPlan, 'scope' | 'tasks' | 'edges'> {
  const within = planned?.scope ?? effectiveScope(spec);
  const ofWords = landing ? undefined : planTasks({ spec, scope: within, for: who });
  const plan = planned?.draft ?? (ofWords?.ok ? ofWords.draft : undefined);
  return { scope: within, tasks: plan?.tasks ?? [], edges: plan ? edgesOf(plan) : [] };
}

function checksOf(spec: EffectiveIntentSpec, stage: StageName): readonly EffectiveCheck[] {
  return spec.acceptance.verificationPlan[`${stage}Checks`];
}

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
  const spec = contract.effective;
  const { userDirectory } = request;
  const guides = await readDraftInstructions(engine, environment, { runId, spec, scope, userDirectory });
  const turns = openTurns({ identity: { contract }, services: { signal, settings } }, opened.model, {
    instructions: guides.files,
  });
  const { repository, base, config } = environment;
  const policy = privacyPolicyOf(contract.effective, config.redaction);
  await using agent = await readingAgentOf(engine, environment, opened.model, {
    runId,
    effective: contract.effective,
    policy,
    sandbox: request.sandbox,
    signal,
    settings,
    instructions: guides.files,
  });
  const { end, taken } = await requestAdvice({
    drafter: worker,
    plan: draft,
    spec: contract.effective,
    scope,
    remarks: guides.text === undefined ? remarks : [guides.text, ...remarks],
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
