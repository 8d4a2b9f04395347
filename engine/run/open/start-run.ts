import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { uuidV7 } from '../../../core/base/ids.ts';
import { modulesOf } from '../../../core/kernel/rules.ts';
import { compileMetricsSchema } from '../../frame/run-metrics.ts';
import { admitContract } from '../../intent/admit-contract.ts';
import { openRunStore } from '../../intent/open-run-store.ts';
import { readThreadId } from '../../intent/read-thread-id.ts';
import { requireActive } from '../../intent/require-active.ts';
import { requireSameMetadata } from '../../intent/require-same-metadata.ts';
import { threadOf } from '../../intent/thread-of.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { specFile } from '../../store/record/spec-file.ts';
import { runDirectory } from '../../store/run-directory.ts';
import { acquireRunLock } from '../../store/run-lock.ts';
import { beginProbe } from '../../tool/pick-sandbox.ts';
import { requireCleanPaths } from '../../vcs/dirty-paths.ts';
import type { KeptReaders } from '../../vcs/object-reader.ts';
import { createScratch } from '../../vcs/scratch.ts';
import { openingReport } from '../record/gate-report.ts';
import { secretValues } from '../record/secret-values.ts';
import { type StartedRun, startedLanding, startedType } from '../record/started-run.ts';
import { workerFile } from '../record/worker-file.ts';
import { readWording } from '../state/commit-wording.ts';
import { requireOldSigners } from '../state/require-old-signers.ts';
import { resolveOrigin } from '../state/resolve-origin.ts';
import type { RunRequest } from '../state/run-request.ts';
import { stepsOver } from '../state/steps.ts';
import { withConfig } from '../state/with-config.ts';
import { chooseLanding } from './choose-landing.ts';
import { type HeldRun, holdRun } from './hold-run.ts';
import { maskStated } from './mask-stated.ts';
import { openJournal } from './open-journal.ts';
import { openParties } from './open-parties.ts';
import { openWorker } from './open-worker.ts';
import { openStatedRepository, prepareGround } from './prepare-ground.ts';
import { readAuthorship, requireKnownAuthor, withAuthor } from './read-authorship.ts';
import { takeCandidate } from './take-candidate.ts';

/**
 * Everything before the first judgement: repository, base, candidate, journal. What is wrong with the change or the
 * ground is refused here, before any work, and leaves nothing behind.
 */
export async function startRun(
  engine: WritEngine,
  request: RunRequest,
  readers: KeptReaders,
): Promise<HeldRun> {
  const worker = await openWorker(engine, request.source);
  const admitted = await admitContract(engine, request.specBytes, { model: worker?.usesModel === true });
  // Beside the questions to git: each of the two takes as long as all of them.
  engine.pool.warm(modulesOf(engine.rules, admitted.effective));
  await using _probe = beginProbe(request.sandbox, engine.slots.sandbox);
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
  const wording = await readWording(repository, request, origin);
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
    if (request.source.kind === 'worker')
      await writeFile(join(directory, workerFile), request.source.from, { mode: 0o600, flush: true });
    const threadId = (await readThreadId(store, spec)) ?? threadOf(spec.metadata);
    const tip = origin.range?.tip;
    const found = await readAuthorship(repository, request.source, origin.range);
    requireKnownAuthor(found, spec, supplied);
    const values = supplied ? secretValues(supplied, supplied.files) : [];
    const { intent } = spec;
    const { wording: kept, authorship } = maskStated(
      wording,
      withAuthor(found, wording.author),
      intent.summary,
      values,
    );
    const started: StartedRun = {
      runId,
      threadId,
      startedAtMs,
      source: request.source.kind,
      ...(request.onto === undefined ? {} : { onto: request.onto }),
      ...startedLanding(landing),
      wording: kept,
      ...(tip === undefined ? {} : { tip }),
      authorship,
      ...(supplied === undefined
        ? {}
        : { candidate: { tree: supplied.candidateTree, digest: supplied.digest } }),
      sandbox: ground.sandbox.name,
      report: openingReport(
        {
          contract,
          ground,
          runId,
          threadId,
          startedAtMs,
          anewAtMs: undefined,
          store,
          tip,
          authorship,
          sandboxName: ground.sandbox.name,
        },
        supplied,
      ),
    };
    const journal = await openJournal(directory, runId, request);
    await journal.append(startedType, started);
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
