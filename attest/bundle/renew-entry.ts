import type { SealedFile, TransparencyLog } from '../../core/interfaces/sealing.ts';
import { sealPaths } from '../../store/record/record-files.ts';
import { parseCheckpoint } from '../log/checkpoint.ts';
import { isPartOf, type LogVersion } from '../log/log-version.ts';
import { leafHash } from '../log/merkle/hash.ts';
import { rootFromInclusion } from '../log/merkle/verify-inclusion.ts';
import { formatTlogProof } from '../log/tlog-proof.ts';
import { type Bundle, formatBundle, parseBundle } from './bundle.ts';

/** The seals of a run that its log entry is in: those that were made again, else the first. */
type Seals = ReadonlyMap<string, Uint8Array>;

/**
 * Makes the log entry of a sealed run again, octet by octet, if `own` is the log that it was made in. Needs no signing
 * key: what was signed stays as it is, and the new bundle and proof are stored beside the first ones.
 * `undefined` for a run whose entry is not in `own`. ATTESTATION_MALFORMED, LOG_FAILED.
 */
export async function renewEntry(
  seals: Seals,
  own: LogVersion,
  log: Pick<TransparencyLog, 'append'>,
): Promise<readonly SealedFile[] | undefined> {
  const bytes = seals.get(sealPaths.renewedBundle) ?? seals.get(sealPaths.bundle);
  if (bytes === undefined) return undefined;
  const { envelope, proof, certificate } = parseBundle(bytes);
  if (proof === undefined || !(await isIn(proof, own))) return undefined;
  const renewed = await log.append(proof.body, { behind: 0 });
  const bundle: Bundle = {
    envelope,
    proof: { ...renewed, logId: proof.logId },
    ...(certificate === undefined ? {} : { certificate }),
  };
  return [
    [sealPaths.renewedBundle, Buffer.from(formatBundle(bundle))],
    [sealPaths.renewedProof, Buffer.from(formatTlogProof(renewed))],
  ];
}

async function isIn(
  { body, logIndex, hashes, checkpoint }: NonNullable<Bundle['proof']>,
  own: LogVersion,
): Promise<boolean> {
  const proven = parseCheckpoint(checkpoint);
  const root = rootFromInclusion(logIndex, proven.size, leafHash(body), hashes);
  return root?.equals(proven.root) === true && proven.origin === own.head.origin && isPartOf(proven, own);
}
