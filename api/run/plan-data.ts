import { readAsked } from '../../engine/draft/draft-request.ts';
import { type DraftEdit, editSentence, type KeptDraft } from '../../engine/draft/kept-draft.ts';
import { whyItWaits } from '../../engine/draft/waiting-drafts.ts';
import type { AdmittedContract } from '../../engine/intent/admit-contract.ts';
import type { RunPlan } from '../../engine/plan-run.ts';
import type { DraftData, DraftedData, PlanData } from '../schemas/plan-schema.ts';

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

export function draftData(
  { document, digest }: Pick<AdmittedContract, 'document' | 'digest'>,
  {
    path,
    repairs,
    questions,
    lacks,
  }: Pick<KeptDraft, 'repairs' | 'questions'> & {
    readonly path: string;
    /** Absent if the lacks were not checked. */
    readonly lacks?: readonly string[];
  },
  edits: readonly DraftEdit[] = [],
): DraftData {
  const { said = [], provider = '', model = '' } = readAsked(document) ?? {};
  return {
    path,
    spec_id: document.metadata.id,
    digest,
    risk_level: document.risk.level,
    request: said,
    provider,
    model,
    repairs,
    questions,
    edits: edits.map(editSentence),
    ...(lacks === undefined ? {} : { lacks }),
  };
}

/** A draft that waits, as `--json` shows it. */
export function draftedData(
  draft: DraftData,
  kept: Pick<KeptDraft, 'runId' | 'questions'>,
  edits: readonly DraftEdit[] = [],
): DraftedData {
  return {
    run_id: kept.runId,
    state: 'drafted',
    waits_for: whyItWaits(draft.risk_level, kept, edits),
    draft,
  };
}
