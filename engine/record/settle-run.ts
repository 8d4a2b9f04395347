/* Stores a decided run under its refs. */
import { join } from 'node:path';
import { canonicalDigest } from '../../core/base/canonical.ts';
import { uuidV7From } from '../../core/base/ids.ts';
import type { SealedFile } from '../../core/interfaces/sealing.ts';
import type { RefWrite, WriteTree } from '../../core/interfaces/store.ts';
import { schedulerOf } from '../../spec/facts.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { parseObject, type StoredObject, sealObject } from '../../store/stored-object.ts';
import { recordIntent, runEventsOf, writeIntentEvents } from '../intent/append-intent-events.ts';
import type { Attempt, OpenRun } from '../state/open-run.ts';
import { createRecordCollector } from '../state/record-collector.ts';
import { attemptIdOf, type SettledAttempt } from './attempt-files.ts';
import type { EvaluatedRun } from './evaluation-objects.ts';
import { decisionBody, type RecordFiles, type RunOutcome } from './write-record.ts';

/** The patch in the content tree; its digest is a subject of the provenance. */
export const patchContentPath = 'patchset.diff';

/**
 * Stores a decided run under the spec's `refs/ai/` names: intent, plan, deletable content, and last the run: its ref
 * marks the record as complete. `patch` is the part of the patch that may be kept; `anchors` are commits that the
 * record keeps reachable. Idempotent: after a kill it writes the same versions.
 */
export async function settleRun(
  attempt: Attempt,
  files: RecordFiles,
  seals: readonly SealedFile[],
  patch: Uint8Array = attempt.patch.diff,
  anchors: readonly string[] = [],
): Promise<void> {
  const {
    identity: { contract, runId },
    services: { store },
    box,
  } = attempt;
  const steps = attempt.services.steps.under('record');
  const { objects, refs } = store;
  const message = `writ: run ${runId}`;
  const atMs = await steps.once('at', () => attempt.services.settings.clock.now());
  const old = await steps.once('old', async () => ({
    content: (await objects.version(refs.content(runId))) ?? null,
    run: (await objects.version(refs.run(runId))) ?? null,
  }));
  const runWrite: RefWrite = [
    refs.run(runId),
    {
      message,
      keepExisting: false,
      expectedOld: old.run,
      atMs,
      files: [...files, ...seals],
      ...(anchors.length === 0 ? {} : { anchors }),
    },
  ];
  const plans: RefWrite[] = [];
  for (const [folder, plan] of plansIn(files)) {
    // The run may have ended elsewhere as well, and that plan, of the same id, have come with a fetch: ours goes on
    // from it.
    const before = await steps.once(
      `plan/${plan.revision}/old`,
      async () => (await objects.version(refs.plan(plan.object_id))) ?? null,
    );
    plans.push([
      refs.plan(plan.object_id),
      {
        message,
        keepExisting: false,
        expectedOld: before,
        atMs,
        files: [...files]
          .filter(([path]) => path.startsWith(`${folder}plan.json`) || path.startsWith(`${folder}tasks/`))
          .map(([path, bytes]) => [path.slice(folder.length), bytes] as const),
      },
    ]);
  }
  await steps.once('run', async () => {
    if (!box.keepsContent) await objects.remove(refs.content(runId));
    const decision = parseObject('decision', files.get('decision.json') ?? Buffer.alloc(0));
    const events = runEventsOf(
      contract,
      { runId, startedAtMs: attempt.identity.startedAtMs, decidedAtMs: atMs },
      decision,
    );
    await writeIntentEvents(store, contract.effective.metadata.id, events, {
      record: (before) => recordIntent(contract, before, atMs),
      also: () => [...plans, ...(box.keepsContent ? [contentWrite()] : []), runWrite],
    });
  });

  function contentWrite(): RefWrite {
    const about = aboutContent(attempt);
    const write = { message, keepExisting: false, expectedOld: old.content, atMs, files: content(), about };
    return [refs.content(runId), write];
  }

  async function* content(): AsyncGenerator<readonly [string, Uint8Array]> {
    yield [patchContentPath, patch];
    for (const record of box.list()) yield [record.path, await box.read(record)];
    yield* contentBelowNames(attempt);
  }
}

/** Type and expiry of the candidate's content, by path. */
export function aboutContent({ box }: Pick<Attempt, 'box'>): NonNullable<WriteTree['about']> {
  const records = new Map(box.list().map((record) => [record.path, record]));
  return (path) => (path === patchContentPath ? { contentType: 'text/x-diff' } : records.get(path));
}

/**
 * Artifacts of Task attempts and of handed-back candidates, below their names, where their evidence refers to them.
 * The current candidate's artifacts are at the top level instead.
 */
export function contentBelowNames(
  attempt: Pick<Attempt, 'services' | 'name'>,
): AsyncGenerator<readonly [string, Uint8Array]> {
  return contentOfAttempts(
    attempt,
    (path) => path.startsWith('task-') || !path.startsWith(`${attempt.name}/`),
  );
}

/** What checks delivered, below the names of attempts and candidates. */
export async function* contentOfAttempts(
  { services: { directory } }: Pick<Attempt, 'services'>,
  isWanted: (path: string) => boolean = () => true,
): AsyncGenerator<readonly [string, Uint8Array]> {
  const all = createRecordCollector(join(directory, 'content'));
  for (const path of await all.list()) if (isWanted(path)) yield [path, await all.read(path)];
}

/** Every plan revision in a record with its folder; '' for the last revision. */
function plansIn(files: RecordFiles): readonly (readonly [string, StoredObject<'plan'>])[] {
  return [...files].flatMap(([path, bytes]) =>
    /^(?:plans\/\d+\/)?plan\.json$/.test(path)
      ? [[path.slice(0, -'plan.json'.length), parseObject('plan', bytes)] as const]
      : [],
  );
}

/**
 * Records a Decision.Rollback next to the run's decision, with the revocation that was logged, if the branch swap was
 * lost after the run was recorded.
 */
export async function recordRollback(
  attempt: Attempt,
  judged: EvaluatedRun,
  outcome: RunOutcome,
  revocation: readonly SealedFile[],
): Promise<void> {
  const {
    identity: { runId, contract },
    services: { store },
  } = attempt;
  const steps = attempt.services.steps.under('rollback');
  const { nowMs } = outcome;
  const decision = sealObject('decision', decisionBody(attempt, judged, outcome, []), {
    nowMs,
    objectId: uuidV7From(nowMs, `${runId}/decision/rollback-after-record`),
    createdBy: schedulerOf(contract.effective),
  });
  const old = await steps.once(
    'old',
    async () => (await store.objects.version(store.refs.run(runId))) ?? null,
  );
  await steps.once('run', () =>
    store.objects.writeTree(store.refs.run(runId), {
      message: `writ: rollback of run ${runId}`,
      keepExisting: true,
      expectedOld: old,
      atMs: nowMs,
      files: [[sealPaths.rollback, decision.bytes], ...revocation],
    }),
  );
}

/** Records a Decision.Checkpoint that does not suspend the run, as `decisions/<what>.json`. */
export async function recordCheckpoint(
  run: OpenRun,
  what: string,
  { name, decision }: SettledAttempt,
  rationale: string,
): Promise<void> {
  const {
    identity: { runId, startedAtMs, contract },
  } = run;
  await run.services.steps.once(`checkpoint/${what}`, async () => {
    const { bytes } = sealObject(
      'decision',
      {
        run: attemptIdOf(run, name),
        type: 'checkpoint',
        rationale,
        reasons: [rationale],
        input_digest: decision.inputDigest,
        decision_digest: canonicalDigest(decision),
        evidence: [],
      },
      {
        nowMs: await run.services.steps.once(`checkpoint/${what}/at`, () =>
          run.services.settings.clock.now(),
        ),
        objectId: uuidV7From(startedAtMs, `${runId}/checkpoint/${what}`),
        createdBy: schedulerOf(contract.effective),
      },
    );
    await run.services.record.put([[`decisions/${what}.json`, bytes]]);
  });
}
