import { isWritError, WritError } from '../base/errors.ts';
import type { Attestation } from '../contract/attestor.ts';
import type { ObjectStore, WriteTree } from '../store/object-store.ts';
import { parseObject } from '../store/stored-object.ts';
import type { Attempt } from './attempt.ts';
import type { RecordFiles } from './record-files.ts';

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
 * itself, whose ref says that all of it is there.
 */
export async function settleRun(
  attempt: Attempt,
  files: RecordFiles,
  seals: Attestation | undefined,
): Promise<void> {
  const { store, contract, runId, box, patch, journal } = attempt;
  const { objects, refs } = store;
  const message = `writ: run ${runId}`;
  const pick = (names: readonly string[]) =>
    names.map((name): [string, Uint8Array] => [name, required(files, name)]);
  await writeShared(objects, refs.intent(contract.effective.metadata.id), {
    message,
    keepExisting: false,
    files: pick(['intent.json', 'spec.json', 'effective.json']),
  });
  const plan = parseObject('plan', required(files, 'plan.json'));
  await objects.writeTree(refs.plan(plan.object_id), {
    message,
    keepExisting: false,
    files: pick(['plan.json', 'task.json']),
  });
  if (box.keepsContent) {
    await objects.writeTree(refs.content(runId), {
      message,
      keepExisting: false,
      expectedOld: null,
      files: content(),
    });
  }
  const sealed: [string, Uint8Array][] = [];
  if (seals) sealed.push([sealPaths.bundle, seals.bundle]);
  if (seals?.proof) sealed.push([sealPaths.proof, seals.proof]);
  await objects.writeTree(refs.run(runId), {
    message,
    keepExisting: false,
    expectedOld: null,
    files: [...files, ...sealed],
  });
  await journal.append('run-recorded', { ref: refs.run(runId) });

  async function* content(): AsyncGenerator<readonly [string, Uint8Array]> {
    yield [patchContentPath, patch.diff];
    for (const record of box.list()) yield [record.path, await box.read(record)];
  }
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
