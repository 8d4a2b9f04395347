/* Signs statements, logs their envelopes, and makes a log entry again. */
import { createPublicKey } from 'node:crypto';
import { canonicalize } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type {
  Attestation,
  LogProof,
  SealedFile,
  SealingParties,
  Signer,
  TransparencyLog,
} from '../../core/interfaces/sealing.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { inTotoPayloadType, parseEnvelope, signEnvelope } from '../encoding/dsse.ts';
import { formatTlogProof, parseCheckpoint } from '../log/checkpoint.ts';
import { buildLogEntry } from '../log/log-entry.ts';
import { leafHash, rootFromInclusion } from '../log/merkle.ts';
import { parseVkey } from '../log/note.ts';
import { isPartOf, type LogVersion } from '../log/tiles.ts';
import type { Statement } from '../statement/statement.ts';
import { type Bundle, formatBundle, parseBundle, toDsseEnvelope } from './bundle.ts';

/** Signs a statement: the DSSE envelope as JSON. SIGNER_FAILED. */
export async function signStatement(statement: Statement, { signer }: SealingParties): Promise<Uint8Array> {
  const payload = Buffer.from(canonicalize(statement));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  return Buffer.from(JSON.stringify(toDsseEnvelope(envelope)));
}

/** A bundle around an envelope that is not logged, with the signer's certificate where it has one. */
export function toUnloggedBundle(bytes: Uint8Array, { signer }: SealingParties): Uint8Array {
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED' });
  const envelope = parseEnvelope(value, '');
  return Buffer.from(formatBundle({ envelope, proof: undefined, ...certificateOf(signer) }));
}

function certificateOf({ certificate }: Signer): { readonly certificate?: Buffer } {
  return certificate === undefined ? {} : { certificate: Buffer.from(certificate()) };
}

/** Logs a signed envelope where there is a log, and puts both into a bundle. LOG_FAILED. */
export async function logEnvelope(
  bytes: Uint8Array,
  parties: SealingParties,
  behind: number,
): Promise<Attestation> {
  const { signer, log } = parties;
  if (log === undefined) return { bundle: toUnloggedBundle(bytes, parties), keyId: signer.keyId };
  const { value } = parseStrictJson(bytes, { code: 'ATTESTATION_MALFORMED' });
  const envelope = parseEnvelope(value, '');
  const body = buildLogEntry(envelope, createPublicKey(signer.publicKeyPem));
  const proof = await appendTo(log, body, behind);
  const logId = proof.logId ?? parseVkey((await log.vkey()) ?? '').keyId;
  return {
    bundle: Buffer.from(formatBundle({ envelope, proof: { ...proof, logId }, ...certificateOf(signer) })),
    proof: Buffer.from(formatTlogProof(proof)),
    keyId: signer.keyId,
    logOrigin: proof.origin,
    logIndex: proof.logIndex,
  };
}

async function appendTo(
  log: NonNullable<SealingParties['log']>,
  body: Buffer,
  behind: number,
): Promise<LogProof> {
  try {
    return await log.append(body, { behind });
  } catch (cause) {
    if (cause instanceof WritError) throw cause;
    throw new WritError('LOG_FAILED', { detail: { mode: log.mode }, cause });
  }
}

/** The seals of a run that its log entry is in: those that were made again, else the first. */
type Seals = ReadonlyMap<string, Uint8Array>;

/**
 * Recreates the log entry of a sealed run, with identical bytes, if `own` is the log that recorded it. This needs no
 * signing key, because the signed content does not change. The new bundle and proof are stored beside the first ones.
 *
 * Returns `undefined` for a run without an entry in `own`. Throws ATTESTATION_MALFORMED or LOG_FAILED.
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
