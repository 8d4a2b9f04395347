import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { writeDurably } from '../../core/base/files.ts';
import { uuidTimeMs } from '../../core/base/ids.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { specFile } from '../../store/run-directory.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import { describeObjects, readBlob } from '../../workspace/git/read-objects.ts';
import { mergeBase, treeOf } from '../../workspace/git/resolve-commit.ts';
import type { Scratch } from '../../workspace/git/scratch.ts';
import { removeWorkspace } from '../../workspace/git/workspace.ts';
import { compileMetricsSchema } from '../context/run-metrics.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { type IntentRunStore, readThreadId, threadOf } from '../intent/find-intent.ts';
import { requireActive, requireSameMetadata } from '../intent/require-active.ts';
import type { ClaimedRun } from '../record/claimed-run.ts';
import { openingReport } from '../record/gate-report.ts';
import { secretValues } from '../record/masking.ts';
import { privateRootOf, type StartedRun, startedLanding } from '../record/started-run.ts';
import { requireOldSigners } from '../state/approval-rights.ts';
import { type CommitWording, readWording } from '../state/commit-wording.ts';
import type { LocalDecision } from '../state/local-decision.ts';
import type { Ground } from '../state/open-run.ts';
import { maskStated } from './mask-stated.ts';
import { inVainWords } from './plan-ground.ts';

export interface AnewGround {
  readonly engine: WritEngine;
  readonly store: IntentRunStore;
  readonly contract: AdmittedContract;
  readonly ground: Ground;
  readonly scratch: Scratch;
  readonly nowMs: number;
  /** What the run decided about local changes, if this user recorded it here. */
  readonly local: LocalDecision | undefined;
}

/**
 * Builds the first record of a run from a claim: the request as claimed, and all other data computed again. The spec
 * must pass the same checks as at a start.
 */
export async function startedAnew(
  { engine, store, contract, ground, scratch, nowMs, local }: AnewGround,
  claim: ClaimedRun,
  supplied: PatchSet | undefined,
): Promise<StartedRun> {
  const { runId, source, onto, tip, drafting } = claim.started;
  const values = supplied ? secretValues(supplied, supplied.files) : [];
  const spec = contract.effective;
  const { wording, authorship } = maskStated(
    await claimedWording(scratch, ground, tip, supplied),
    claim.started.authorship,
    spec.intent.summary,
    values,
  );
  const startedAtMs = uuidTimeMs(runId);
  if (startedAtMs === undefined) {
    throw new WritError('JOURNAL_CORRUPT', {
      message: `expected a UUIDv7 as the id of a run, found \`${runId}\``,
      detail: { run_id: runId },
    });
  }
  engine.ledger.check(spec, { model: false });
  await requireSameMetadata(store, contract);
  await requireActive(store, contract);
  await compileMetricsSchema(spec.objmodel.runPolicy.metricsSchema);
  if (supplied) await requireOldSigners(scratch, ground.policy, supplied);
  const threadId = (await readThreadId(store, spec)) ?? threadOf(spec.metadata);
  const signers = await readBlob(scratch, ground.policy.tree, '.writ/allowed_signers');
  const lacking = inVainWords({ contract, signers });
  const about = {
    contract,
    ground,
    runId,
    threadId,
    startedAtMs,
    anewAtMs: nowMs,
    store,
    tip,
    authorship,
    lacking,
    local,
  };
  return {
    runId,
    threadId,
    startedAtMs,
    anewAtMs: nowMs,
    source,
    ...(onto === undefined ? {} : { onto }),
    ...startedLanding(ground),
    wording,
    ...(tip === undefined ? {} : { tip }),
    authorship,
    ...(supplied ? { candidate: { tree: supplied.candidateTree, digest: supplied.digest } } : {}),
    sandbox: ground.sandbox.name,
    ...(lacking.length === 0 ? {} : { lacking }),
    ...(drafting === undefined ? {} : { drafting }),
    ...(local === undefined ? {} : { local }),
    report: openingReport({ ...about, sandboxName: ground.sandbox.name }, supplied),
  };
}

/**
 * Removes the files of an unproven journal from the run's directory. The spec is written again. Worker inputs are
 * kept, because they are the request.
 */
export async function clearMemory(directory: string, runId: string, spec: Uint8Array): Promise<void> {
  // An entry at these paths is removed itself, even if it is a link.
  for (const part of ['content', 'record']) await rm(join(directory, part), { recursive: true, force: true });
  await removeWorkspace(privateRootOf(runId));
  // The spec is replaced atomically: if a kill left no spec, the run could not resume.
  await writeDurably(join(directory, specFile), spec);
}

/**
 * Returns the message and people of a run that is only a claim. They come from the claimed range if its commits exist
 * here and really give the candidate, or else they are empty. A claim must not attribute a change to another person.
 */
async function claimedWording(
  scratch: Scratch,
  { repository, base }: Pick<Ground, 'repository' | 'base'>,
  tip: string | undefined,
  candidate: PatchSet | undefined,
): Promise<CommitWording> {
  if (tip === undefined || candidate === undefined || base.commit === undefined) return {};
  // A range travels as its candidate: its commits may never have left the clone of their author.
  const [found] = await describeObjects(repository, [tip]);
  if (found?.type !== 'commit') return {};
  const from = await mergeBase(scratch, base.commit, tip);
  if (from === undefined) return {};
  const [start, tipTree] = [await treeOf(scratch, from), await treeOf(scratch, tip)];
  const { tree } = await mergeTrees(scratch, start, base.tree, tipTree);
  if (tree !== candidate.candidateTree) return {};
  const range = { base: { commit: from, tree: start }, from, tip, tipTree };
  return readWording(repository, {}, { base: range.base, range });
}
