import { WritError } from '../../../core/base/errors.ts';
import type { SealedEvidence } from '../../../core/contract/attestor.ts';
import { carryReader } from '../../patch/carry-reader.ts';
import { readObjects } from '../../vcs/blobs.ts';
import { evidenceReader } from '../../vcs/evidence-reader.ts';
import { replayRecord } from '../decide/replay-record.ts';
import { allowedSignersOf } from '../record/allowed-signers-of.ts';
import type { RecordFiles } from '../record/record-files.ts';
import { contentBelowNames, patchContentPath } from '../record/settle-run.ts';
import type { Attempt } from '../state/attempt.ts';

/** A run as it is about to be stored, for whoever verifies it as a stranger would. */
export async function sealedEvidence(
  attempt: Attempt,
  commit: string,
  files: RecordFiles,
): Promise<SealedEvidence> {
  const {
    identity: { runId },
    ground,
    box,
    patch,
  } = attempt;
  const { repository } = ground;
  const [object] = await readObjects(repository, [commit]);
  if (!object)
    throw new WritError('INTERNAL', { message: `commit \`${commit}\` is gone from the repository` });
  const ofAttempts = new Map<string, Uint8Array>();
  for await (const [path, bytes] of contentBelowNames(attempt)) ofAttempts.set(path, bytes);
  const records = new Map(box.list().map((record) => [record.path, record]));
  return {
    runId,
    commit: { id: commit, raw: object.bytes },
    files,
    allowedSigners: (await allowedSignersOf(attempt)) ?? new Uint8Array(),
    replay: replayRecord,
    contentPaths: [patchContentPath, ...records.keys(), ...ofAttempts.keys()],
    readContent: async (path) => {
      const record = records.get(path);
      if (path === patchContentPath) return patch.diff;
      return record ? box.read(record) : ofAttempts.get(path);
    },
    ...evidenceReader(repository),
    carry: carryReader(repository),
  };
}
