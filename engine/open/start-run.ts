/* Starts a run: everything before its first check. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { writeDurably } from '../../core/base/files.ts';
import { uuidTimeMs, uuidV7 } from '../../core/base/ids.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import type { PatchSet } from '../../core/interfaces/patch-set.ts';
import { stageNames } from '../../core/interfaces/stage.ts';
import type { Rules } from '../../core/kernel/rules.ts';
import { mainThreadBytes } from '../../core/kernel/worker/evaluate-here.ts';
import type { WritEngine } from '../../spec/contract-rows.ts';
import { acquireRunLock, runDirectory, specFile } from '../../store/run-directory.ts';
import { type Given, toStored } from '../../store/shape.ts';
import { mergeTrees } from '../../workspace/git/create-commit.ts';
import type { KeptReaders } from '../../workspace/git/object-reader.ts';
import { describeObjects, readBlob } from '../../workspace/git/read-objects.ts';
import { mergeBase, treeOf } from '../../workspace/git/resolve-commit.ts';
import { createScratch, type Scratch } from '../../workspace/git/scratch.ts';
import { removeWorkspace } from '../../workspace/git/workspace.ts';
import { beginProbe } from '../../workspace/process/version-control.ts';
import { compileMetricsSchema } from '../context/run-metrics.ts';
import type { AdmittedContract } from '../intent/admit-contract.ts';
import { type IntentRunStore, readThreadId, threadOf } from '../intent/find-intent.ts';
import { requireActive, requireSameMetadata } from '../intent/intent-history.ts';
import { openingReport } from '../record/build-gate-report.ts';
import type { ClaimedRun } from '../record/claimed-run.ts';
import { secretValues } from '../record/masking.ts';
import {
  privateRootOf,
  type StartedRun,
  startedLanding,
  startedShape,
  startedType,
  workerFile,
} from '../record/started-run.ts';
import { requireOldSigners } from '../state/approval-rights.ts';
import { type CommitWording, type LocalDecision, readWording } from '../state/commit-wording.ts';
import type { RunEnvironment } from '../state/open-run.ts';
import { stepsOver } from '../state/record-collector.ts';
import type { RunRequest } from '../state/run-request.ts';
import { nothingSpent } from '../state/spent.ts';
import { pluginCacheOf } from './environment.ts';
import { type HeldRun, holdRun, openJournal } from './hold-run.ts';
import { everyResult, type OpeningPlace, openChecks } from './opening.ts';
import { checkRequest, checkRest } from './opening-sequence.ts';
import { inVain, inVainWords } from './plan-environment.ts';
import { maskStated, withAuthor } from './read-authorship.ts';

/**
 * Does everything before the first check: repository, base, candidate, journal. Refuses a faulty change or
 * environment before any work, without leftover files.
 */
export async function startRun(
  engine: WritEngine,
  request: RunRequest,
  readers: KeptReaders,
): Promise<HeldRun> {
  const startedAtMs = request.clock.now();
  const runId = request.runId ?? uuidV7(startedAtMs);
  let lock: Awaited<ReturnType<typeof acquireRunLock>> | undefined;
  let directory = '';
  const place: OpeningPlace = {
    dry: false,
    keep: (repository) => readers.keep(repository),
    pluginCache: pluginCacheOf,
    async makeScratch(repository) {
      directory = runDirectory(repository, runId);
      lock = await acquireRunLock(directory);
      return readers.keep(await createScratch(join(directory, 'scratch'), repository));
    },
  };
  const { source } = request;
  const check = openChecks();
  const question = { engine, request, place, runId, source, kind: source.kind };
  const asked = await checkRequest(check, question);
  // Runs concurrently with the git queries, because each of the two is about equally slow.
  const bytes = source.kind === 'patch' ? source.bytes.length : 0;
  const modules = modulesOf(engine.rules, asked.admitted().effective, bytes);
  if (modules.length > 0) engine.pool.warm(modules);
  await using _probe = beginProbe(request.sandbox, engine.slots.sandbox);
  try {
    const opening = everyResult({ ...asked, ...(await checkRest(check, question, asked)) });
    const { contract, environment, store, origin, sealing, secrets } = opening;
    const { scratch, supplied } = opening.candidate;
    const local = opening.predicted ?? opening.candidate.local;
    const model = opening.builtInModel ?? opening.pluginModel;
    const { draft } = opening.planned;
    for (const issue of inVain(opening)) request.hear?.(issue);
    const lacking = inVainWords(opening);
    const spec = contract.effective;
    await writeFile(join(directory, specFile), contract.bytes, { mode: 0o600, flush: true });
    if (request.source.kind === 'worker')
      await writeFile(join(directory, workerFile), request.source.from, { mode: 0o600, flush: true });
    const threadId = (await readThreadId(store, spec)) ?? threadOf(spec.metadata);
    const tip = origin.range?.tip;
    const values = supplied ? secretValues(supplied, supplied.files) : [];
    const { intent } = spec;
    const { wording: kept, authorship } = maskStated(
      opening.wording,
      withAuthor(opening.authorship, opening.wording.author),
      intent.summary,
      values,
    );
    const { source: change, onto, drafting, advice, failedBefore } = request;
    const evaluatesOnly = opening.evaluatesOnly || undefined;
    const worker = change.kind === 'worker' ? change.worker : undefined;
    const commitAtMs = request.queued && startedAtMs;
    const started = firstRecord(
      { runId, threadId, startedAtMs, anewAtMs: undefined, tip, authorship, lacking, local, contract, store },
      {
        ...{ source: change.kind, worker, onto, drafting, advice, failedBefore },
        ...{ wording: kept, evaluatesOnly, commitAtMs },
      },
      environment,
      supplied,
    );
    const journal = await openJournal(directory, runId, request);
    await journal.append(startedType, started);
    await journal.sync();
    const steps = stepsOver(journal);
    const made = { scratch, supplied, worker: opening.worker, secrets, model, directory, steps };
    const parts = { engine, contract, environment, store, sealing, ...made };
    const extra = { draft, moreCostUnits: undefined, cancelled: undefined };
    return await holdRun({
      ...parts,
      ...extra,
      settings: request,
      journal,
      started,
      release: async () => lock?.release(),
    });
  } catch (fault) {
    if (lock) {
      await lock.release().catch(() => undefined);
      await rm(directory, { recursive: true, force: true });
    }
    throw fault;
  }
}

interface AnewGround {
  readonly engine: WritEngine;
  readonly store: IntentRunStore;
  readonly contract: AdmittedContract;
  readonly environment: RunEnvironment;
  readonly scratch: Scratch;
  readonly nowMs: number;
  /** What the run decided about local changes, if this user recorded it here. */
  readonly local: LocalDecision | undefined;
}

/**
 * Builds the first record of a run from a claim: the request as claimed, and all other data computed again. The spec
 * must pass the same checks as at a start.
 */
export async function startedAgain(
  { engine, store, contract, environment, scratch, nowMs, local }: AnewGround,
  claim: ClaimedRun,
  supplied: PatchSet | undefined,
): Promise<StartedRun> {
  const { runId, source, onto, tip, drafting: spent } = claim.started;
  const { models } = claim;
  const drafting = models.length === 0 ? spent : { ...(spent ?? nothingSpent), models };
  const values = supplied ? secretValues(supplied, supplied.files) : [];
  const spec = contract.effective;
  const { wording, authorship } = maskStated(
    await claimedWording(scratch, environment, tip, supplied),
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
  if (supplied) await requireOldSigners(scratch, environment.policy, supplied);
  const threadId = (await readThreadId(store, spec)) ?? threadOf(spec.metadata);
  const signers = await readBlob(scratch, environment.policy.tree, '.writ/allowed_signers');
  const lacking = inVainWords({ contract, signers });
  return firstRecord(
    { runId, threadId, startedAtMs, anewAtMs: nowMs, tip, authorship, lacking, local, contract, store },
    { source, onto, drafting, wording },
    environment,
    supplied,
  );
}

type Reported = Parameters<typeof openingReport>[0];

/** The first record of a run, made of who the run is, what was asked for, and what both come to here. */
function firstRecord(
  run: Omit<Reported, 'environment' | 'sandboxName'> & Pick<StartedRun, 'lacking'>,
  asked: Given<
    Pick<
      StartedRun,
      | 'source'
      | 'worker'
      | 'onto'
      | 'drafting'
      | 'advice'
      | 'failedBefore'
      | 'wording'
      | 'evaluatesOnly'
      | 'commitAtMs'
    >
  >,
  environment: RunEnvironment,
  supplied: PatchSet | undefined,
): StartedRun {
  const sandbox = environment.sandbox.name;
  return toStored(startedShape, {
    ...run,
    ...asked,
    ...startedLanding(environment),
    sandbox,
    lacking: run.lacking?.length === 0 ? undefined : run.lacking,
    candidate: supplied && { tree: supplied.candidateTree, digest: supplied.digest },
    report: openingReport({ ...run, environment, sandboxName: sandbox }, supplied),
  });
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
  { repository, base }: Pick<RunEnvironment, 'repository' | 'base'>,
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

/**
 * Modules (file URLs) that a thread loads to evaluate a change of at least so many bytes. Third-party rules are
 * evaluated elsewhere, and linear rules of a small change in the main thread.
 */
export function modulesOf(rules: Rules, spec: EffectiveIntentSpec, bytes = 0): readonly string[] {
  const asked = (['patch', ...stageNames] as const).flatMap((point) => rules.at(point, spec));
  const threaded = asked.filter(
    ({ outside, linear }) => outside === undefined && (!linear || bytes >= mainThreadBytes),
  );
  return [...new Set(threaded.map(({ module }) => module.href))];
}
