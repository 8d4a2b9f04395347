import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../base/errors.ts';
import { uuidV7 } from '../base/ids.ts';
import type { PatchSet } from '../contract/patch-set.ts';
import { compileMetricsSchema } from '../frame/run-metrics.ts';
import { requireActive } from '../intent/require-active.ts';
import { threadOf } from '../intent/thread-of.ts';
import { effectiveScope, scopeRootOf } from '../plan/scope.ts';
import { formatJournal } from '../store/format-journal.ts';
import { Journal } from '../store/journal.ts';
import { isJournalBegun } from '../store/parse-journal.ts';
import { journalPath, runDirectory } from '../store/run-directory.ts';
import { acquireRunLock } from '../store/run-lock.ts';
import { requireCleanPaths } from '../vcs/dirty-paths.ts';
import type { KeptReaders } from '../vcs/object-reader.ts';
import { openRepository } from '../vcs/repository.ts';
import { createScratch } from '../vcs/scratch.ts';
import { settleGit } from '../vcs/stale-locks.ts';
import { listNames } from '../vcs/tree.ts';
import { removeWorkspace } from '../vcs/workspace.ts';
import { admitContract } from './admit-contract.ts';
import type { OpenRun } from './attempt.ts';
import { watchCancel } from './cancel-request.ts';
import { chooseLanding } from './choose-landing.ts';
import { findRun } from './find-runs.ts';
import { openingReport } from './gate-report.ts';
import { openParties } from './open-parties.ts';
import { type Ground, openStatedRepository, prepareGround } from './prepare-ground.ts';
import { openPrivateRoot } from './private-root.ts';
import { readCandidate } from './read-candidate.ts';
import { readKeptContract } from './read-kept-contract.ts';
import { createRecordBox } from './record-box.ts';
import { refuseSealing } from './refuse-sealing.ts';
import { reopenLanding } from './reopen-landing.ts';
import { requireOldSigners } from './require-old-signers.ts';
import { resolveOrigin } from './resolve-origin.ts';
import { restoreRun } from './restore-run.ts';
import type { ResumeRequest, RunRequest, RunSettings } from './run-request.ts';
import { openRunStore, readThreadId, requireSameMetadata } from './run-store.ts';
import { type StartedRun, startedLanding, startedRun, startedType } from './started-run.ts';
import { stepsOver } from './steps.ts';
import { takeCandidate } from './take-candidate.ts';
import { resumedType, startWallClock, waitingType } from './wall-clock.ts';
import { withConfig } from './with-config.ts';
import { workerFile } from './worker-file.ts';
import type { WritEngine } from './writ-engine.ts';

/** A run that this process holds; disposing gives it back, whatever happened. */
export interface HeldRun extends AsyncDisposable {
  readonly run: OpenRun;
  /** The candidate of a supplied patch; `undefined` where a worker makes it. */
  readonly supplied: PatchSet | undefined;
  readonly started: StartedRun;
  /** Nothing is left to do: what only a resume would need goes. */
  finish(): Promise<void>;
  /** Nothing can be done before people speak: the wall clock stands still, and the workspaces give up the disk. */
  wait(): Promise<void>;
}

const specFile = 'spec.json';

/**
 * Everything before the first judgement: repository, base, candidate, journal. What is wrong with the change or the
 * ground is refused here, before any work, and leaves nothing behind.
 */
export async function startRun(
  engine: WritEngine,
  request: RunRequest,
  readers: KeptReaders,
): Promise<HeldRun> {
  const admitted = await admitContract(engine, request.specBytes, {
    model: request.source.kind === 'worker' && request.source.worker.usesModel,
  });
  const startedAtMs = request.clock.now();
  const runId = uuidV7(startedAtMs);
  const repository = readers.keep(await openStatedRepository(request, admitted));
  const store = await openRunStore(engine, repository, request.clock, admitted.effective);
  await requireSameMetadata(store, admitted);
  await requireActive(store, admitted);
  await compileMetricsSchema(admitted.effective.objmodel.runPolicy.metricsSchema);
  const origin = await resolveOrigin(repository, request, admitted);
  const landing = await chooseLanding(repository, request, admitted, runId, origin);
  const ground = await prepareGround(engine, request, admitted, repository, landing);
  const contract = withConfig(admitted, ground.config);
  const spec = contract.effective;
  const sealing = await openParties(engine, contract, ground);
  const directory = runDirectory(repository, runId);
  const lock = await acquireRunLock(directory);
  try {
    const scratch = readers.keep(await createScratch(join(directory, 'scratch'), repository));
    const supplied = await takeCandidate(scratch, request, origin, landing);
    if (supplied) {
      await requireOldSigners(scratch, ground.policy, supplied);
      if (ground.target.checkedOutHere) await requireCleanPaths(repository, supplied.files);
    }
    await writeFile(join(directory, specFile), contract.bytes, { mode: 0o600, flush: true });
    if (request.source.kind === 'worker' && request.source.keep)
      await writeFile(join(directory, workerFile), request.source.keep, { mode: 0o600, flush: true });
    const threadId = (await readThreadId(store, spec)) ?? threadOf(spec.metadata);
    const started: StartedRun = {
      runId,
      threadId,
      startedAtMs,
      source: request.source.kind,
      ...(request.onto === undefined ? {} : { onto: request.onto }),
      ...startedLanding(landing),
      ...(origin.range === undefined ? {} : { tip: origin.range.tip }),
      ...(supplied === undefined
        ? {}
        : { candidate: { tree: supplied.candidateTree, digest: supplied.digest } }),
      sandbox: ground.sandbox.name,
      report: openingReport(
        { contract, ground, runId, threadId, startedAtMs, store, sandboxName: ground.sandbox.name },
        supplied,
      ),
    };
    const journal = await openJournal(ground, runId, request);
    await journal.append(startedType, started);
    const worker = request.source.kind === 'worker' ? request.source.worker : undefined;
    const steps = stepsOver(journal);
    const parts = { engine, contract, ground, store, sealing, scratch, supplied, worker, directory, steps };
    const extra = { moreCostUnits: undefined, cancelled: undefined };
    return await holdRun({
      ...parts,
      ...extra,
      settings: request,
      journal,
      started,
      release: () => lock.release(),
    });
  } catch (fault) {
    await lock.release().catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
    throw fault;
  }
}

/**
 * Takes up a run that waits or was stopped: from its journal here, else from what its refs hold. RUN_NOT_FOUND, RUN_BUSY,
 * RUN_NOT_RESUMABLE for one that has ended or whose candidate is not in this repository.
 */
export async function reopenRun(
  engine: WritEngine,
  request: ResumeRequest,
  readers: KeptReaders,
): Promise<HeldRun> {
  const repository = readers.keep(await openRepository(request.repositoryPath));
  const { store: found, runId } = await findRun(repository, request.clock, request.runId);
  const directory = runDirectory(repository, runId);
  const lock = await acquireRunLock(directory);
  try {
    await settleGit(repository);
    const path = journalPath(repository, runId);
    // The journal of a thousand Tasks takes its time to read: not twice.
    if (!(await isJournalBegun(path))) await restoreRun(repository, found, runId);
    const journal = await Journal.open(path, { clock: request.clock });
    const started = startedRun(journal.records);
    if (request.cancel !== undefined) refuseSealing(runId, journal);
    if (!started) throw new WritError('RUN_NOT_FOUND', { detail: { run_id: runId } });
    const read = await readKeptContract(engine, join(directory, specFile), started);
    const store = await openRunStore(engine, repository, request.clock, read.effective);
    const steps = stepsOver(journal);
    const landing = await reopenLanding(repository, journal, started, read, request);
    const ground = await prepareGround(engine, request, read, repository, landing);
    const contract = withConfig(read, ground.config);
    const sealing = await openParties(engine, contract, ground);
    const scratch = readers.keep(await createScratch(join(directory, 'scratch'), repository));
    const supplied = await readCandidate(scratch, landing.base, started);
    await journal.append(resumedType, {});
    const parts = { engine, contract, ground, store, sealing, scratch, supplied, directory, steps };
    return await holdRun({
      ...parts,
      worker: await request.openWorker?.(directory),
      moreCostUnits: request.moreCostUnits,
      cancelled: request.cancel,
      settings: request,
      journal,
      started,
      release: () => lock.release(),
    });
  } catch (fault) {
    await lock.release().catch(() => undefined);
    throw fault;
  }
}

interface RunParts
  extends Pick<
    OpenRun,
    | 'engine'
    | 'settings'
    | 'contract'
    | 'ground'
    | 'store'
    | 'sealing'
    | 'scratch'
    | 'worker'
    | 'moreCostUnits'
    | 'cancelled'
    | 'directory'
    | 'steps'
  > {
  readonly supplied: PatchSet | undefined;
  readonly journal: Journal;
  readonly started: StartedRun;
  readonly release: () => Promise<void>;
}

async function holdRun({ journal, started, release, supplied, ...parts }: RunParts): Promise<HeldRun> {
  const { contract, scratch, directory } = parts;
  const letGo = new AbortController();
  const ended = new AbortController();
  void watchCancel(
    directory,
    ({ by }) =>
      letGo.abort(new WritError('RUN_INTERRUPTED', { message: `the run is cancelled by \`${by}\`` })),
    ended.signal,
  );
  const settings = {
    ...parts.settings,
    signal: AbortSignal.any([parts.settings.signal, letGo.signal]),
  };
  const spec = contract.effective;
  const { runId, threadId, startedAtMs } = started;
  const privateRoot = await openPrivateRoot(runId, parts.ground.repository.commonDir);
  const names = await listNames(scratch, started.base.tree, scopeRootOf(spec.metadata.target.repo));
  const wallClock = startWallClock(
    spec.constraints.resources.maxWallClockSeconds,
    startedAtMs,
    journal.records,
    settings.clock,
  );
  const run: OpenRun = {
    ...parts,
    settings,
    runId,
    threadId,
    startedAtMs,
    sandboxName: started.sandbox,
    tip: started.tip,
    moreCostUnits: parts.moreCostUnits,
    cancelled: parts.cancelled,
    isWorked: started.source === 'worker',
    privateRoot,
    travellingJournal: () => formatJournal(journal.records.filter(({ data }) => !isLocal(data))),
    record: createRecordBox(join(directory, 'record')),
    scope: effectiveScope(spec, names),
    signal: AbortSignal.any([settings.signal, wallClock.signal]),
    wallClockExceeded: wallClock.exceeded,
  };
  let over = false;
  let left = false;
  return {
    run,
    supplied,
    started,
    async finish() {
      await journal.append('run-finished', {});
      over = true;
      for (const part of ['content', 'record', 'scratch', workerFile]) {
        await rm(join(directory, part), { recursive: true, force: true });
      }
    },
    async wait() {
      await journal.append(waitingType, {});
      left = true;
      await removeWorkspace(privateRoot);
    },
    async [Symbol.asyncDispose]() {
      wallClock.end();
      ended.abort();
      if (!over && !left)
        await journal.append('run-left', { interrupted: settings.signal.aborted }).catch(() => undefined);
      await journal.close().catch(() => undefined);
      // A run that goes on finds its workspaces; only one that waits for people gives up the disk.
      if (over) await removeWorkspace(privateRoot).catch(() => undefined);
      await release().catch(() => undefined);
    },
  };
}

/** Steps under `local/` hold for this machine alone. */
function isLocal(data: unknown): boolean {
  const { step } = (data ?? {}) as { readonly step?: string };
  return step !== undefined && /(?:^|\/)local\//.test(step);
}

function openJournal(ground: Ground, runId: string, settings: RunSettings): Promise<Journal> {
  return Journal.open(journalPath(ground.repository, runId), { clock: settings.clock });
}
