import { isWritError } from '../base/errors.ts';
import { type StageName, stageNames } from '../contract/stage.ts';
import { effectiveScope, type Scope, scopeRootOf } from '../plan/scope.ts';
import type { EffectiveCheck, EffectiveIntentSpec } from '../spec/intentspec.gen.ts';
import { openRepository, type Repository } from '../vcs/repository.ts';
import { resolveBase } from '../vcs/resolve-commit.ts';
import { listNames } from '../vcs/tree.ts';
import { type AdmittedContract, readContract } from './admit-contract.ts';
import { taskConstraints } from './plan-objects.ts';
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
  readonly tasks: readonly {
    readonly id: string;
    readonly kind: 'implementation' | 'gate';
    readonly title: string;
    readonly steps: readonly string[];
    readonly constraints: readonly string[];
    readonly acceptanceCriteria: readonly string[];
    readonly stage?: StageName;
  }[];
  /** [before, after] by task id. */
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

/** Plans a supplied patch: one task for the change, one gate task for each stage after it (resolutions, A supplied patch). */
export async function planRun(
  engine: WritEngine,
  bytes: Uint8Array,
  repositoryPath: string,
): Promise<RunPlan> {
  const contract = await readContract(engine, bytes);
  const spec = contract.effective;
  const change = {
    id: 'change',
    kind: 'implementation' as const,
    title: spec.intent.summary,
    steps: spec.intent.objectives,
    constraints: taskConstraints(spec),
    acceptanceCriteria: spec.acceptance.successCriteria,
  };
  const gates = stageNames.map((stage) => ({
    id: `gate-${stage}`,
    kind: 'gate' as const,
    title: `${stage} checks`,
    steps: checksOf(spec, stage).map((check) => check.id),
    constraints: [],
    acceptanceCriteria: [],
    stage,
  }));
  const tasks = [change, ...gates];
  const unenforced = engine.ledger.unenforced(spec, { model: false });
  const asked = new Set(engine.ledger.asked(spec, { model: false }));
  return {
    contract,
    scope: effectiveScope(spec, await baseNames(repositoryPath, spec)),
    tasks,
    edges: tasks.slice(1).map(({ id }, index) => [tasks[index]?.id ?? '', id] as const),
    stages: stageNames.map((stage) => ({
      stage,
      checks: checksOf(spec, stage),
      rules: engine.rules.at(stage, spec).map(({ id }) => id),
    })),
    patchRules: engine.rules.at('patch', spec).map(({ id }) => id),
    retentionDays: retentionDaysOf(spec),
    ledger: engine.ledger.entries.map(({ id, enforcedBy }) => ({ id, enforcedBy, asked: asked.has(id) })),
    unenforced,
  };
}

function checksOf(spec: EffectiveIntentSpec, stage: StageName): readonly EffectiveCheck[] {
  return spec.acceptance.verificationPlan[`${stage}Checks`];
}

/** Names at the root of the base tree; `undefined` where there is no repository or no such base yet, and words are read without them. */
async function baseNames(path: string, spec: EffectiveIntentSpec): Promise<ReadonlySet<string> | undefined> {
  try {
    const repository: Repository = await openRepository(path);
    const base = await resolveBase(repository, spec.metadata.target.baseRef);
    return await listNames(repository, base.tree, scopeRootOf(spec.metadata.target.repo));
  } catch (fault) {
    if (
      isWritError(fault, 'NOT_A_REPOSITORY') ||
      isWritError(fault, 'REF_NOT_FOUND') ||
      isWritError(fault, 'BARE_REPOSITORY')
    )
      return undefined;
    throw fault;
  }
}
