import { createPublicKey } from 'node:crypto';
import { canonicalize } from '../../core/base/canonical.ts';
import { WritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { Attestation, LogProof, SealingParties, Signer } from '../../core/interfaces/sealing.ts';
import { inTotoPayloadType, parseEnvelope, signEnvelope } from '../encoding/dsse.ts';
import { parseVkey } from '../log/ledger-key.ts';
import { buildLogEntry } from '../log/log-entry.ts';
import { formatTlogProof } from '../log/tlog-proof.ts';
import type { Statement } from '../statement/statement.ts';
import { formatBundle, toDsseEnvelope } from './bundle.ts';

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
