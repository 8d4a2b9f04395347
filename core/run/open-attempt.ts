import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, WritError } from '../base/errors.ts';
import { uuidV7 } from '../base/ids.ts';
import type { SealingParties } from '../contract/attestor.ts';
import type { RunView } from '../contract/run-view.ts';
import { effectiveScope, scopeRootOf } from '../plan/scope.ts';
import { Journal } from '../store/journal.ts';
import { journalPath, runDirectory } from '../store/run-directory.ts';
import { acquireRunLock } from '../store/run-lock.ts';
import { requireCleanPaths } from '../vcs/dirty-paths.ts';
import { createScratch } from '../vcs/scratch.ts';
import { listNames } from '../vcs/tree.ts';
import { removeWorkspace } from '../vcs/workspace.ts';
import type { AdmittedContract } from './admit-contract.ts';
import { createArtifactBox } from './artifact-box.ts';
import type { Attempt } from './attempt.ts';
import { gateReport } from './gate-report.ts';
import { type Ground, openStatedRepository, prepareGround } from './prepare-ground.ts';
import { readRun } from './read-run.ts';
import { refuseStatePaths } from './refuse-state-paths.ts';
import type { RunRequest } from './run-request.ts';
import { openRunStore, readThreadId, requireSameMetadata } from './run-store.ts';
import { resolveOrigin, takeCandidate } from './take-candidate.ts';
import type { WritEngine } from './writ-engine.ts';

/** An attempt with the end of its life: disposing ends journal, lock and private directories, whatever happened. */
export interface OpenedAttempt extends AsyncDisposable {
  readonly attempt: Attempt;
  /** The run as stored, after it was acted on. */
  finish(): Promise<RunView>;
}

/**
 * Everything before the first judgement: repository, base, candidate, journal. What is wrong with the change or the
 * ground is refused here, before any work and before anything is written.
 */
export async function openAttempt(
  engine: WritEngine,
  request: RunRequest,
  contract: AdmittedContract,
): Promise<OpenedAttempt> {
  const startedAtMs = request.clock.now();
  const runId = uuidV7(startedAtMs);
  const spec = contract.effective;
  const repository = await openStatedRepository(request, contract);
  const store = openRunStore(repository, request.clock, spec);
  await requireSameMetadata(store, contract);
  const origin = await resolveOrigin(repository, request, contract);
  const ground = await prepareGround(engine, request, contract, runId, repository, origin.base);
  const sealing = await openParties(engine, contract, ground);
  const privateRoot = await mkdtemp(join(tmpdir(), 'writ-run-'));
  const cleanUp: (() => Promise<unknown>)[] = [() => removeWorkspace(privateRoot)];
  try {
    const scratch = await createScratch(join(privateRoot, 'scratch'), repository);
    const patch = await takeCandidate(scratch, request, origin);
    refuseStatePaths(patch.files);
    if (ground.target.checkedOutHere) await requireCleanPaths(repository, patch.files);
    const scope = effectiveScope(
      spec,
      await listNames(scratch, patch.baseTree, scopeRootOf(spec.metadata.target.repo)),
    );

    const directory = runDirectory(repository, runId);
    const lock = await acquireRunLock(directory);
    cleanUp.push(() => lock.release());
    const journal = await Journal.open(journalPath(repository, runId), {
      clock: request.clock,
      fsync: false,
    });
    cleanUp.push(() => journal.close());
    const box = createArtifactBox({
      directory: join(directory, 'content'),
      spec,
      hooks: engine.hooks,
      nowMs: () => request.clock.now(),
    });
    cleanUp.push(() => box.discard());
    const deadline = AbortSignal.timeout(spec.constraints.resources.maxWallClockSeconds * 1000);
    const attempt: Attempt = {
      engine,
      request,
      contract,
      ground,
      store,
      runId,
      threadId: (await readThreadId(store, spec)) ?? uuidV7(startedAtMs),
      startedAtMs,
      privateRoot,
      journal,
      box,
      scratch,
      patch,
      scope,
      sealing,
      signal: AbortSignal.any([request.signal, deadline]),
      wallClockExceeded: () => deadline.aborted,
    };
    await journal.append('run-started', { report: gateReport(attempt, [], []), ref: store.refs.run(runId) });
    return {
      attempt,
      finish: async () => {
        await journal.append('run-finished', {});
        const view = await readRun(repository, store, runId);
        const { decision } = view;
        if (decision) {
          const { type, rationale, commitSha } = decision;
          await engine.hooks.decision.made.call({
            runId,
            type,
            rationale,
            ...(commitSha === undefined ? {} : { commitSha }),
          });
        }
        return view;
      },
      async [Symbol.asyncDispose]() {
        const ended = journal.records.some(({ type }) => type === 'run-finished');
        if (!ended)
          await journal.append('run-ended', { interrupted: request.signal.aborted }).catch(() => undefined);
        await dispose(cleanUp);
      },
    };
  } catch (fault) {
    await dispose(cleanUp);
    throw fault;
  }
}

/** In reverse order; what cannot be cleaned up does not hide why we are here. */
async function dispose(cleanUp: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const step of [...cleanUp].reverse()) await step().catch(() => undefined);
}

/** Opens key and log before any work, so that a run which could never be sealed is refused at once. */
async function openParties(
  engine: WritEngine,
  contract: AdmittedContract,
  ground: Ground,
): Promise<SealingParties | undefined> {
  const { provenance, artifacts } = contract.effective;
  const listed = artifacts.required.some(
    ({ name, required }) => required && name === 'provenance-attestation',
  );
  if (!provenance.requireSlsaProvenance && !listed) return undefined;
  const signer = await engine.slots.signer.pick('key');
  const log = await engine.slots.log.pick(provenance.transparencyLog.mode);
  try {
    return {
      signer: await signer.open(ground.config.signer.key),
      log: await log.open({ commonDir: ground.repository.commonDir }),
    };
  } catch (fault) {
    if (fault instanceof WritError) throw fault;
    throw new WritError('SIGNER_FAILED', {
      message: `the signing key could not be opened: ${messageOf(fault)}`,
      cause: fault,
    });
  }
}
