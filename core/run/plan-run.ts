import { isWritError } from '../base/errors.ts';
import { type StageName, stageNames } from '../contract/stage.ts';
import type { PlanGround } from '../plan/decompose.ts';
import { edgesOf, type PlannedTask } from '../plan/plan-draft.ts';
import type { PlanFor } from '../plan/plan-tasks.ts';
import { effectiveScope, type Scope } from '../plan/scope.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from '../spec/intentspec.gen.ts';
import { openRepository } from '../vcs/repository.ts';
import { resolveBase } from '../vcs/resolve-commit.ts';
import { type AdmittedContract, readContract } from './admit-contract.ts';
import { draftPlan } from './draft-plan.ts';
import { readPlanGround } from './read-plan-ground.ts';
import { retentionDaysOf } from './retention.ts';
import type { WritEngine } from './writ-engine.ts';

/** One row of the contract: who makes it hold here, and whether this contract needs it. */
export interface PlannedRow {
  readonly id: string;
  readonly enforcedBy: readonly string[];
  readonly asked: boolean;
}

/** What a run would do, without doing any of it. */
export interface RunPlan {
  readonly contract: AdmittedContract;
  readonly scope: Scope;
  readonly for: PlanFor;
  readonly tasks: readonly PlannedTask[];
  /** [before, after] by task key. */
  readonly edges: readonly (readonly [string, string])[];
  readonly stages: readonly {
    readonly stage: StageName;
    readonly checks: readonly EffectiveCheck[];
    readonly rules: readonly string[];
  }[];
  readonly patchRules: readonly string[];
  readonly retentionDays: number;
  readonly ledger: readonly PlannedRow[];
  /** Rows that this contract asks for and nobody enforces: a run would be refused. */
  readonly unenforced: readonly string[];
}

/** What a run would do where a worker does the Tasks, or where a patch is supplied: one Task, and other rows asked for. */
export async function planRun(
  engine: WritEngine,
  bytes: Uint8Array,
  repositoryPath: string,
  who: PlanFor,
): Promise<RunPlan> {
  const contract = await readContract(engine, bytes);
  const spec = contract.effective;
  const ground = await groundOf(repositoryPath, spec);
  const scope = effectiveScope(spec, ground.rootNames);
  const draft = await draftPlan(engine, { spec, scope, for: who, ground });
  const context = { model: who === 'worker' };
  const asked = new Set(engine.ledger.asked(spec, context));
  return {
    contract,
    scope,
    for: who,
    tasks: draft.tasks,
    edges: edgesOf(draft),
    stages: stageNames.map((stage) => ({
      stage,
      checks: checksOf(spec, stage),
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

/** The base tree as planning knows it; nothing where there is no repository or no such base yet, and words are read without it. */
async function groundOf(path: string, spec: EffectiveIntentSpec): Promise<PlanGround> {
  try {
    const repository = await openRepository(path);
    const base = await resolveBase(repository, spec.metadata.target.baseRef);
    return await readPlanGround(repository, base.tree, spec);
  } catch (fault) {
    if (
      isWritError(fault, 'NOT_A_REPOSITORY') ||
      isWritError(fault, 'REF_NOT_FOUND') ||
      isWritError(fault, 'BARE_REPOSITORY')
    )
      return {};
    throw fault;
  }
}
