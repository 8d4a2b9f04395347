import { createPublicKey } from 'node:crypto';
import { canonicalize } from '../core/base/canonical.ts';
import { WritError } from '../core/base/errors.ts';
import type { Attestation, SealingParties } from '../core/contract/attestor.ts';
import type { LogProof } from '../core/contract/transparency-log.ts';
import { formatBundle } from './bundle.ts';
import { inTotoPayloadType, signEnvelope } from './dsse.ts';
import { parseVkey } from './log/ledger-key.ts';
import { buildLogEntry } from './log/log-entry.ts';
import { formatTlogProof } from './log/tlog-proof.ts';
import type { Statement } from './statement/statement.ts';

/** Signs a statement, logs the envelope where there is a log, and puts both into a bundle. SIGNER_FAILED, LOG_FAILED. */
export async function sealStatement(
  statement: Statement,
  { signer, log }: SealingParties,
): Promise<Attestation> {
  const payload = Buffer.from(canonicalize(statement));
  const envelope = await signEnvelope(inTotoPayloadType, payload, signer);
  if (log === undefined) {
    return { bundle: Buffer.from(formatBundle({ envelope, proof: undefined })), keyId: signer.keyId };
  }
  const body = buildLogEntry(envelope, createPublicKey(signer.publicKeyPem));
  const logId = parseVkey(await log.vkey()).keyId;
  const proof = await appendTo(log, body);
  return {
    bundle: Buffer.from(formatBundle({ envelope, proof: { ...proof, logId } })),
    proof: Buffer.from(formatTlogProof(proof)),
    keyId: signer.keyId,
    logOrigin: proof.origin,
    logIndex: proof.logIndex,
  };
}

async function appendTo(log: NonNullable<SealingParties['log']>, body: Buffer): Promise<LogProof> {
  try {
    return await log.append(body);
  } catch (cause) {
    if (cause instanceof WritError) throw cause;
    throw new WritError('LOG_FAILED', { detail: { mode: log.mode }, cause });
  }
}
