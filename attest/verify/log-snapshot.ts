import { isWritError } from '../../core/base/errors.ts';
import { parseBundle } from '../bundle/bundle.ts';
import { type Checkpoint, parseCheckpoint } from '../log/checkpoint.ts';
import { readHistory } from '../log/ledger-history.ts';
import type { LedgerFileReader } from '../log/tile-reader.ts';
import { parseTlogProof } from '../log/tlog-proof.ts';
import { type EvidenceSource, readLogProof, runFiles } from './evidence-source.ts';
import { readProvenance } from './provenance-claims.ts';

const maxAttempts = 8;

/**
 * What exported evidence brings of its log, by path: the checkpoint as it stands now, and the hash tiles that tell it
 * from others for whoever has seen any size of it. `undefined` where the log of the proof is not at hand, or is
 * damaged.
 */
export async function logSnapshot({
  readRun,
  readLedger,
  readSnapshot,
}: EvidenceSource): Promise<ReadonlyMap<string, Buffer> | undefined> {
  const proof = await readLogProof(readRun);
  const read = readLedger ?? readSnapshot;
  if (proof === undefined || read === undefined) return undefined;
  const origin = originOf(() => parseTlogProof(proof).checkpoint);
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const head = await headOf(read);
    if (head === undefined || head.origin !== origin) return undefined;
    try {
      return new Map([['checkpoint', Buffer.from(head.source)], ...(await readHistory(read, head))]);
    } catch (fault) {
      if (!isWritError(fault, 'LEDGER_CORRUPT')) throw fault;
      // An append replaced its last tiles: the next head then reads whole.
      if ((await headOf(read))?.size === head.size) return undefined;
    }
  }
  return undefined;
}

/**
 * True for a run whose signer says that it stands in an internal ledger, and whose log proof is there. Nothing of it is
 * verified.
 */
export async function isInLedger({ readRun }: Pick<EvidenceSource, 'readRun'>): Promise<boolean> {
  const [bundle, proof] = [await readRun(runFiles.bundle), await readRun(runFiles.proof)];
  if (bundle === undefined || proof === undefined) return false;
  try {
    const claims = readProvenance(parseBundle(bundle).envelope.payload);
    return claims.ledger !== undefined;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED') || isWritError(fault, 'VERIFY_REFUTED')) return false;
    throw fault;
  }
}

async function headOf(read: LedgerFileReader): Promise<Checkpoint | undefined> {
  const bytes = await read('checkpoint');
  if (bytes === undefined) return undefined;
  try {
    return parseCheckpoint(Buffer.from(bytes).toString('utf8'));
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}

function originOf(checkpoint: () => string): string | undefined {
  try {
    return parseCheckpoint(checkpoint()).origin;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}
