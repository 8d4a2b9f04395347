import { isWritError } from '../../core/base/errors.ts';
import { listRecordRefs, readLogProofs } from '../../store/record/list-records.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { parseTlogProof } from './tlog-proof.ts';

/** The record of a run in git. */
export interface RunRecord {
  readonly ref: string;
  readonly commit: string;
}

/** A record with the checkpoint of its log proof, as that says: no signature is verified. */
export interface ProvenRun extends RunRecord {
  readonly checkpoint: Checkpoint;
}

export async function listRunRecords(repository: Repository): Promise<readonly RunRecord[]> {
  const records = await listRecordRefs(repository, [], 'runs');
  return records.flatMap(({ ref, commit }) => (commit === undefined ? [] : [{ ref, commit }]));
}

/** Those of the records that have a log proof which can be read. */
export async function readProvenRuns(
  repository: Repository,
  records: readonly RunRecord[],
): Promise<readonly ProvenRun[]> {
  const commits = records.map(({ commit }) => commit);
  const proofs = await readLogProofs(repository, commits);
  return records.flatMap((record) => {
    const proof = proofs.get(record.commit);
    const checkpoint = proof && checkpointOfProof(proof);
    return checkpoint === undefined ? [] : [{ ...record, checkpoint }];
  });
}

/** The checkpoint of a log proof, as it says; `undefined` if it cannot be read. */
export function checkpointOfProof(proof: Uint8Array): Checkpoint | undefined {
  return checkpointIfReadable(() => parseTlogProof(proof).checkpoint);
}

/** `undefined` for a text that is no checkpoint, or that cannot be had. */
export function checkpointIfReadable(text: () => string): Checkpoint | undefined {
  try {
    return parseCheckpoint(text());
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}
