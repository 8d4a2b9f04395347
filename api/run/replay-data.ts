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
import type { Place } from '../../store/stores.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { compact } from '../envelope.ts';
import { type DraftData, type DraftedData, type PlanData, planSchema } from '../schemas/plan-schema.ts';
import { type ReplayData, replaySchema } from '../schemas/run-schema.ts';
import { toShape } from '../schemas/shape.ts';

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
  const replay = replayRun(files, listedDigests(files.get(sealPaths.bundle)));
  return toShape(replaySchema, { ...replay, runId });
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
export function toPlanData({ contract, policyCommit, ...plan }: RunPlan): PlanData {
  return toShape(planSchema, {
    ...plan,
    ...compact({ policyCommit }),
    digest: contract.digest,
    effective: contract.effective,
    issues: [...contract.warnings, ...plan.notices],
    tasks: plan.tasks.map(({ key, gateStages, ...task }) => {
      const [stage, ...more] = gateStages;
      return {
        ...task,
        id: key,
        stages: gateStages,
        ...compact({ stage: more.length > 0 ? undefined : stage }),
      };
    }),
    stages: plan.stages.map((stage) => ({ ...stage, checks: stage.checks.map(({ id }) => id) })),
    refusals: plan.refusals.map(({ check: { id, sees, about }, fault: { code, message } }) => ({
      judgement: id,
      sees,
      path: about,
      code,
      message,
    })),
  });
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
