import { isWritError } from '../../core/base/errors.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from '../../core/contract/intentspec.gen.ts';
import { edgesOf, type PlannedTask } from '../../core/contract/plan-draft.ts';
import type { Scope } from '../../core/contract/scope.ts';
import { type StageName, stageNames } from '../../core/contract/stage.ts';
import { parseConfig, type WritConfig } from '../config/config.ts';
import { sealingFormsOf } from '../config/sealing-forms.ts';
import { type AdmittedContract, readContract } from '../intent/admit-contract.ts';
import type { PlanGround } from '../plan/decompose.ts';
import type { PlanFor } from '../plan/plan-tasks.ts';
import { effectiveScope } from '../plan/scope.ts';
import type { WritEngine } from '../spec/writ-engine.ts';
import { readBlob } from '../vcs/blobs.ts';
import { findPolicy, type PolicyCommit } from '../vcs/find-policy.ts';
import { planTarget } from '../vcs/plan-target.ts';
import { openRepository } from '../vcs/repository.ts';
import { resolveBase } from '../vcs/resolve-commit.ts';
import { retentionDaysOf } from './state/retention.ts';
import { withConfig } from './state/with-config.ts';
import { draftPlan } from './work/draft-plan.ts';
import { readPlanGround } from './work/read-plan-ground.ts';

/** One row of the contract: who makes it hold here, and whether this contract needs it. */
export interface PlannedRow {
  readonly id: string;
  readonly enforcedBy: readonly string[];
  readonly asked: boolean;
}

/** What a run would do, without doing any of it. */
export interface RunPlan {
  /** With the checks that the policy commit adds. */
  readonly contract: AdmittedContract;
  /** Whose configuration that is; absent where there is no such commit yet. */
  readonly policyCommit?: string;
  readonly scope: Scope;
  readonly for: PlanFor;
  readonly tasks: readonly PlannedTask[];
  /** [before, after] by task key. */
  readonly edges: readonly (readonly [string, string])[];
  readonly stages: readonly {
    readonly stage: StageName;
    readonly checks: readonly EffectiveCheck[];
    /** Ids of those that the policy commit demands of every change. */
    readonly fromPolicy: readonly string[];
    readonly rules: readonly string[];
  }[];
  readonly patchRules: readonly string[];
  readonly retentionDays: number;
  readonly ledger: readonly PlannedRow[];
  /** Rows that this contract asks for and nobody enforces: a run would be refused. */
  readonly unenforced: readonly string[];
}

/**
 * What a run would do where a worker does the Tasks, or where a patch is supplied: one Task, and other rows asked for.
 */
export async function planRun(
  engine: WritEngine,
  bytes: Uint8Array,
  repositoryPath: string,
  who: PlanFor,
): Promise<RunPlan> {
  const read = await readContract(engine, bytes);
  const { ground, policy, config } = await standOf(engine, repositoryPath, read.effective);
  const contract = withConfig(read, config);
  const spec = contract.effective;
  const scope = effectiveScope(spec, ground.rootNames);
  const draft = await draftPlan(engine, { spec, scope, for: who, ground });
  const context = { model: who === 'worker' };
  const asked = new Set(engine.ledger.asked(spec, context));
  return {
    contract,
    ...(policy?.commit === undefined ? {} : { policyCommit: policy.commit }),
    scope,
    for: who,
    tasks: draft.tasks,
    edges: edgesOf(draft),
    stages: stageNames.map((stage) => ({
      stage,
      checks: checksOf(spec, stage),
      fromPolicy: checksOf(spec, stage).flatMap(({ id }) => (contract.mandatory.includes(id) ? [id] : [])),
      rules: engine.rules.at(stage, spec).map(({ id }) => id),
    })),
    patchRules: engine.rules.at('patch', spec).map(({ id }) => id),
    retentionDays: retentionDaysOf(spec),
    ledger: engine.ledger.entries.map(({ id, enforcedBy }) => ({ id, enforcedBy, asked: asked.has(id) })),
    unenforced: engine.ledger.unenforced(spec, context),
  };
}

function checksOf(spec: EffectiveIntentSpec, stage: StageName): readonly EffectiveCheck[] {
  return spec.acceptance.verificationPlan[`${stage}Checks`];
}

interface Stand {
  /** The base tree as planning knows it. */
  readonly ground: PlanGround;
  readonly policy?: PolicyCommit;
  readonly config: WritConfig;
}

/**
 * What a run would stand on now; nothing where there is no repository or no such base yet, and words are read without
 * it.
 */
async function standOf(engine: WritEngine, path: string, spec: EffectiveIntentSpec): Promise<Stand> {
  const forms = await sealingFormsOf(engine.slots);
  try {
    const repository = await openRepository(path);
    const { baseRef } = spec.metadata.target;
    const base = await resolveBase(repository, baseRef);
    const target = await planTarget(repository, { baseRef, baseCommit: base.commit, runId: 'plan' });
    const policy = await findPolicy(repository, { target, baseRef, base });
    const config = parseConfig(await readBlob(repository, policy.tree, '.writ/config.toml'), forms);
    return { ground: await readPlanGround(repository, base.tree, spec), policy, config };
  } catch (fault) {
    if (
      isWritError(fault, 'NOT_A_REPOSITORY') ||
      isWritError(fault, 'REF_NOT_FOUND') ||
      isWritError(fault, 'BARE_REPOSITORY')
    )
      return { ground: {}, config: parseConfig(undefined, forms) };
    throw fault;
  }
}
