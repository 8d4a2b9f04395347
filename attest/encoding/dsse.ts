/* DSSE 1.0 envelopes: signs, reads and verifies them. */
import type { KeyObject } from 'node:crypto';
import { isWritError, WritError } from '../../core/base/errors.ts';
import type { Signer } from '../../core/interfaces/sealing.ts';
import { expectArray, expectBase64, expectObject, expectText } from './expect-json.ts';
import { isSignedBy } from './public-key.ts';

/** A DSSE 1.0 envelope with exactly one signature, decoded. */
export interface Envelope {
  readonly payloadType: string;
  readonly payload: Buffer;
  /** Unauthenticated: a hint which key to try. */
  readonly keyId: string;
  readonly signature: Buffer;
}

/** The payload type of every in-toto statement. */
export const inTotoPayloadType = 'application/vnd.in-toto+json';

/** DSSE pre-authentication encoding: the bytes that are signed. */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Signs a payload; a signer that fails is SIGNER_FAILED. */
export async function signEnvelope(
  payloadType: string,
  payload: Uint8Array,
  signer: Signer,
): Promise<Envelope> {
  let signature: Uint8Array;
  try {
    signature = await signer.sign(preAuthEncoding(payloadType, payload));
  } catch (cause) {
    // A signer of writ names the fault itself; any other error is not shown.
    if (isWritError(cause, 'SIGNER_FAILED')) throw cause;
    throw new WritError('SIGNER_FAILED', { detail: { keyId: signer.keyId }, cause });
  }
  return {
    payloadType,
    payload: Buffer.from(payload),
    keyId: signer.keyId,
    signature: Buffer.from(signature),
  };
}

/**
 * Reads an envelope out of parsed JSON. Unknown members and any number of signatures but one are ATTESTATION_MALFORMED.
 */
export function parseEnvelope(value: unknown, path: string): Envelope {
  const envelope = expectObject(value, path, ['payload', 'payloadType', 'signatures']);
  const signatures = expectArray(envelope.signatures, `${path}/signatures`, 1);
  const first = expectObject(signatures[0], `${path}/signatures/0`, ['keyid', 'sig']);
  return {
    payloadType: expectText(envelope.payloadType, `${path}/payloadType`, /^[!-~]{1,255}$/),
    payload: expectBase64(envelope.payload, `${path}/payload`),
    keyId: expectText(first.keyid, `${path}/signatures/0/keyid`, /^[0-9a-f]{64}$/),
    signature: expectBase64(first.sig, `${path}/signatures/0/sig`),
  };
}

/** The payload, once `key` is shown to have signed these very bytes; else VERIFY_REFUTED (`bad-signature`). */
export function verifyEnvelope(envelope: Envelope, key: KeyObject): Buffer {
  const signed = preAuthEncoding(envelope.payloadType, envelope.payload);
  if (isSignedBy(key, signed, envelope.signature)) return envelope.payload;
  throw new WritError('VERIFY_REFUTED', {
    message: 'the signature does not fit the payload',
    detail: { reason: 'bad-signature', key_id: envelope.keyId },
  });
}

/** An envelope as JSON holds it (DSSE 1.0, Envelope). */
export function toDsseEnvelope(envelope: Envelope): {
  readonly payload: string;
  readonly payloadType: string;
  readonly signatures: readonly { readonly sig: string; readonly keyid: string }[];
} {
  return {
    payload: envelope.payload.toString('base64'),
    payloadType: envelope.payloadType,
    signatures: [{ sig: envelope.signature.toString('base64'), keyid: envelope.keyId }],
  };
}
