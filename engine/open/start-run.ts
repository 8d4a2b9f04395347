import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { uuidV7 } from '../../core/base/ids.ts';
import { modulesOf } from '../../core/kernel/rules.ts';
import type { WritEngine } from '../../spec/writ-engine.ts';
import { acquireRunLock, runDirectory, specFile } from '../../store/run-directory.ts';
import type { KeptReaders } from '../../workspace/git/object-reader.ts';
import { createScratch } from '../../workspace/git/scratch.ts';
import { beginProbe } from '../../workspace/process/pick-sandbox.ts';
import { readThreadId, threadOf } from '../intent/find-intent.ts';
import { openingReport } from '../record/gate-report.ts';
import { secretValues } from '../record/masking.ts';
import { type StartedRun, startedLanding, startedType, workerFile } from '../record/started-run.ts';
import type { RunRequest } from '../state/run-request.ts';
import { stepsOver } from '../state/steps.ts';
import { pluginCacheOf } from './ground.ts';
import { type HeldRun, holdRun } from './hold-run.ts';
import { openJournal } from './journal.ts';
import { judgeOpening } from './judgement.ts';
import { maskStated } from './mask-stated.ts';
import { askedOf } from './open-parties.ts';
import type { Opening, OpeningPlace } from './opening.ts';
import { firstJudgements, laterJudgements } from './opening-judgements.ts';
import { inVain, inVainWords } from './plan-ground.ts';
import { withAuthor } from './read-authorship.ts';

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
  const who = source.kind === 'worker' ? 'worker' : 'patch';
  const first = await judgeOpening(firstJudgements, {
    engine,
    plugins: askedOf(engine),
    request,
    ledger: engine.ledger,
    place,
    runId,
    source,
    who,
    kind: source.kind,
  });
  // Runs concurrently with the git queries, because each of the two is about equally slow.
  const bytes = source.kind === 'patch' ? source.bytes.length : 0;
  const modules = first.admitted ? modulesOf(engine.rules, first.admitted.effective, bytes) : [];
  if (modules.length > 0) engine.pool.warm(modules);
  await using _probe = beginProbe(request.sandbox, engine.slots.sandbox);
  try {
    // Whatever a judgement gives is there once none of them has refused.
    const opening = (await judgeOpening(laterJudgements, first)) as Opening;
    const { contract, ground, store, landing, origin, sealing, scratch, supplied, worker, model, draft } =
      opening;
    const { secrets, local } = opening;
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
    const started: StartedRun = {
      runId,
      threadId,
      startedAtMs,
      source: request.source.kind,
      ...(request.source.kind === 'worker' ? { worker: request.source.worker } : {}),
      ...(request.onto === undefined ? {} : { onto: request.onto }),
      ...startedLanding(landing),
      wording: kept,
      ...(tip === undefined ? {} : { tip }),
      authorship,
      ...(supplied === undefined
        ? {}
        : { candidate: { tree: supplied.candidateTree, digest: supplied.digest } }),
      sandbox: ground.sandbox.name,
      ...(lacking.length === 0 ? {} : { lacking }),
      ...(request.drafting === undefined ? {} : { drafting: request.drafting }),
      ...(request.advice === undefined ? {} : { advice: request.advice }),
      ...(local === undefined ? {} : { local }),
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
          lacking,
          local,
        },
        supplied,
      ),
    };
    const journal = await openJournal(directory, runId, request);
    await journal.append(startedType, started);
    const steps = stepsOver(journal);
    const made = { scratch, supplied, worker, secrets, model, directory, steps };
    const parts = { engine, contract, ground, store, sealing, ...made };
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
