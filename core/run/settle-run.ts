import { isWritError, WritError } from '../base/errors.ts';
import { uuidV7From } from '../base/ids.ts';
import type { Attestation } from '../contract/attestor.ts';
import type { ObjectStore, WriteTree } from '../store/object-store.ts';
import { parseObject, sealObject } from '../store/stored-object.ts';
import type { Attempt } from './attempt.ts';
import type { JudgedRun } from './judged-run.ts';
import { decisionBody, type RecordFiles, type RunOutcome } from './record-files.ts';

/** Where the seals of a run stand in its tree. */
export const sealPaths = {
  bundle: 'provenance.sigstore.json',
  proof: 'transparency-proof.tlog-proof',
  revocation: 'revocation.sigstore.json',
  rollback: 'rollback.json',
} as const;

const maxTries = 8;

/** The patch in the content tree; its digest is a subject of the provenance. */
export const patchContentPath = 'patchset.diff';

/**
 * Stores a decided run under the `refs/ai/` names of its contract: intent, plan, deletable content, and last the run
 * itself, whose ref says that all of it is there. Done again after a kill, it writes the same versions.
 */
export async function settleRun(
  attempt: Attempt,
  files: RecordFiles,
  seals: Attestation | undefined,
): Promise<void> {
  const { store, contract, runId, box, patch } = attempt;
  const steps = attempt.steps.under('record');
  const { objects, refs } = store;
  const message = `writ: run ${runId}`;
  const pick = (names: readonly string[]) =>
    names.map((name): [string, Uint8Array] => [name, required(files, name)]);
  const atMs = await steps.once('at', () => attempt.settings.clock.now());
  const old = await steps.once('old', async () => ({
    content: (await objects.version(refs.content(runId))) ?? null,
    run: (await objects.version(refs.run(runId))) ?? null,
  }));
  await steps.once('intent', () =>
    writeShared(objects, refs.intent(contract.effective.metadata.id), {
      message,
      keepExisting: true,
      files: pick(['intent.json', 'spec.json', 'effective.json']),
    }),
  );
  const plan = parseObject('plan', required(files, 'plan.json'));
  await steps.once('plan', () =>
    objects.writeTree(refs.plan(plan.object_id), {
      message,
      keepExisting: false,
      expectedOld: null,
      atMs,
      files: pick(['plan.json', 'task.json']),
    }),
  );
  await steps.once('content', async () => {
    if (box.keepsContent) {
      const write = { message, keepExisting: false, expectedOld: old.content, atMs, files: content() };
      await objects.writeTree(refs.content(runId), write);
    } else await objects.remove(refs.content(runId));
  });
  const sealed: [string, Uint8Array][] = [];
  if (seals) sealed.push([sealPaths.bundle, seals.bundle]);
  if (seals?.proof) sealed.push([sealPaths.proof, seals.proof]);
  await steps.once('run', () =>
    objects.writeTree(refs.run(runId), {
      message,
      keepExisting: false,
      expectedOld: old.run,
      atMs,
      files: [...files, ...sealed],
    }),
  );

  async function* content(): AsyncGenerator<readonly [string, Uint8Array]> {
    yield [patchContentPath, patch.diff];
    for (const record of box.list()) yield [record.path, await box.read(record)];
  }
}

/** The swap was lost after the run was recorded: its Decision.Rollback goes beside, with what the log was told. */
export async function recordRollback(
  attempt: Attempt,
  judged: JudgedRun,
  outcome: Omit<RunOutcome, 'type'>,
  revocation: Attestation | undefined,
): Promise<void> {
  const { store, runId, contract } = attempt;
  const steps = attempt.steps.under('rollback');
  const { nowMs } = outcome;
  const decision = sealObject(
    'decision',
    decisionBody(attempt, judged, { ...outcome, type: 'rollback' }, []),
    {
      nowMs,
      objectId: uuidV7From(nowMs, `${runId}/decision/rollback-after-record`),
      createdBy: { kind: 'system', id: contract.effective.objmodel.actorMapping.orchestratorActorId },
    },
  );
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
      files: [
        [sealPaths.rollback, decision.bytes],
        ...(revocation ? [[sealPaths.revocation, revocation.bundle] as const] : []),
      ],
    }),
  );
}

/** The intent's ref is every run's of that intent: who loses the race to another run writes again on top of it. */
async function writeShared(objects: ObjectStore, ref: string, write: WriteTree): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await objects.writeTree(ref, write);
      return;
    } catch (fault) {
      const lost = isWritError(fault, 'EVIDENCE_WRITE_FAILED') && Object.hasOwn(fault.detail, 'found');
      if (!lost || tries === maxTries) throw fault;
    }
  }
}

function required(files: RecordFiles, name: string): Uint8Array {
  const bytes = files.get(name);
  if (!bytes) throw new WritError('INTERNAL', { message: `the run record has no \`${name}\`` });
  return bytes;
}
