import type { RunPlan } from '../../engine/run/plan-run.ts';
import type { PlanData } from '../schemas/plan-schema.ts';

/** A plan as `--json` shows it. */
export function toPlanData(plan: RunPlan): PlanData {
  const { contract, scope } = plan;
  return {
    digest: contract.digest,
    effective: contract.effective,
    issues: [...contract.warnings, ...plan.notices],
    for: plan.for,
    tasks: plan.tasks.map(taskData),
    edges: plan.edges,
    scope: { write: scope.write, forbidden: scope.forbidden, whole_repository: scope.wholeRepository },
    ...(plan.policyCommit === undefined ? {} : { policy_commit: plan.policyCommit }),
    stages: plan.stages.map(({ stage, checks, fromPolicy, rules, stageChecks, artifacts }) => ({
      stage,
      checks: checks.map(({ id }) => id),
      from_policy: fromPolicy,
      rules,
      stage_checks: stageChecks.map(({ name, plugin }) => ({ name, plugin })),
      artifacts: artifacts.map(({ name, plugin }) => ({ name, plugin })),
    })),
    evidence: plan.evidence,
    patch_rules: plan.patchRules,
    retention_days: plan.retentionDays,
    ledger: plan.ledger.map(({ id, enforcedBy, asked }) => ({ id, enforced_by: enforcedBy, asked })),
    unenforced: plan.unenforced,
    refusals: plan.refusals.map(({ judgement: { id, sees, about }, fault: { code, message } }) => ({
      judgement: id,
      sees,
      path: about,
      code,
      message,
    })),
  };
}

function taskData(task: RunPlan['tasks'][number]): PlanData['tasks'][number] {
  const { key, number, kind, title, goal, steps, constraints, gateStages, predictedWrites } = task;
  const [stage] = gateStages;
  return {
    id: key,
    number,
    kind,
    title,
    goal,
    steps,
    constraints,
    acceptance_criteria: task.acceptanceCriteria,
    depends_on: task.dependsOn,
    ...(predictedWrites === undefined ? {} : { predicted_writes: predictedWrites }),
    ...(stage === undefined || gateStages.length > 1 ? {} : { stage }),
    stages: gateStages,
  };
}
