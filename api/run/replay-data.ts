/* Data of `writ replay`, of plans and of waiting drafts. */
import { parseBundle } from '../../attest/bundle/bundle.ts';
import { readProvenance } from '../../attest/verify/provenance-claims.ts';
import { systemClock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { type ListedDigests, replayRun } from '../../engine/decide/replay-run.ts';
import { readDraftPrompt } from '../../engine/draft/draft-request.ts';
import { type DraftEdit, editSentence, type KeptDraft } from '../../engine/draft/stored-draft.ts';
import { whyItWaits } from '../../engine/draft/waiting-drafts.ts';
import type { AdmittedContract } from '../../engine/intent/admit-contract.ts';
import type { RunPlan } from '../../engine/plan-run.ts';
import { findRun } from '../../store/record/list-records.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import type { Place } from '../place.ts';
import type { DraftData, DraftedData, PlanData } from '../schemas/plan-schema.ts';

/** What deciding again came to: data of `writ replay`. */
interface ReplayData {
  readonly run_id: string;
  readonly equal: boolean;
  /** What the stored inputs lead to; absent where they cannot be read. */
  readonly decision?: {
    readonly type: string;
    readonly rationale: string;
    readonly reasons: readonly string[];
  };
  readonly first_difference?: {
    readonly file: string;
    readonly field: string;
    readonly expected: string;
    readonly found: string;
  };
}

/** Decides a run again from its stored inputs. RUN_NOT_FOUND, RUN_UNDECIDED. */
export async function replayData({ stores, repoPath, cwd }: Place, wanted: string): Promise<ReplayData> {
  const repository = await openRepository(repoPath ?? cwd);
  // Does not use the reader of `show`: a changed record must be reported, not cause a failure.
  const { store, runId } = await findRun(stores, repository, systemClock, wanted);
  const { objects, refs } = store;
  const paths = (await objects.list(refs.run(runId))).map(({ path }) => path);
  const isDecided = ['decision.json', 'decision-record.json'].some((path) => paths.includes(path));
  if (!isDecided || paths.includes('waiting.json'))
    throw new WritError('RUN_UNDECIDED', { detail: { run_id: runId } });
  const files = await objects.readMany(refs.run(runId), paths);
  const { equal, decision, firstDifference } = replayRun(files, listedDigests(files.get(sealPaths.bundle)));
  return {
    run_id: runId,
    equal,
    ...(decision === undefined
      ? {}
      : { decision: { type: decision.type, rationale: decision.rationale, reasons: decision.reasons } }),
    ...(firstDifference === undefined ? {} : { first_difference: firstDifference }),
  };
}

/**
 * Digests of the run's record as listed in its provenance. The signature is not verified here; `writ verify` does
 * that.
 */
function listedDigests(bundle: Uint8Array | undefined): ListedDigests {
  if (bundle === undefined) return new Map();
  const { byproducts } = readProvenance(parseBundle(bundle).envelope.payload);
  return new Map(byproducts.map(({ name, sha256 }) => [name, sha256]));
}

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
    refusals: plan.refusals.map(({ check: { id, sees, about }, fault: { code, message } }) => ({
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
  const { said = [], provider = '', model = '' } = readDraftPrompt(document) ?? {};
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
