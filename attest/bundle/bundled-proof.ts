import { WritError } from '../../core/base/errors.ts';
import type { LogProof } from '../../core/interfaces/sealing.ts';
import {
  expectArray,
  expectBase64,
  expectInt64,
  expectObject,
  expectText,
  type JsonObject,
} from '../encoding/expect-json.ts';
import { promisedEntryKind } from '../log/promised-entry.ts';
import { decodeTlogEntry } from './tlog-entry.ts';

/** A log proof as a bundle carries it: with the log's whole key id. One with a promise is of Rekor v1. */
export interface BundledProof extends Omit<LogProof, 'origin'> {
  /** SHA-256 key id of the log (C2SP), 32 octets. */
  readonly logId: Uint8Array;
}

/**
 * A log entry of the one kind that we write; anything else in it is ATTESTATION_MALFORMED. Rekor v2 may leave the time
 * out, which it has none of. The form is a check of the entry; its values are those of the one decoding.
 */
export function parseTlogEntry(value: unknown, at: string): BundledProof {
  const entry = requireOwnForm(value, at);
  const { logIndex, integratedTime, logId, promise, proof, body } = decodeTlogEntry(entry, at);
  const path = required(proof, `${at}/inclusionProof`);
  return {
    logIndex: Number(path.logIndex),
    rootHash: path.rootHash,
    treeSize: Number(path.treeSize),
    hashes: path.hashes,
    checkpoint: required(path.checkpoint, `${at}/inclusionProof/checkpoint`),
    ...(promise && {
      promise: { integratedTime: Number(integratedTime), logIndex: Number(logIndex), signature: promise },
    }),
    logId: required(logId, `${at}/logId`),
    body,
  };
}

const members = ['logIndex', 'logId', 'kindVersion', 'integratedTime', 'inclusionProof', 'canonicalizedBody'];

/** Its kinds, no other member, and one spelling of everything. */
function requireOwnForm(value: unknown, at: string): JsonObject {
  const entry = expectObject(value, at, [...members, 'inclusionPromise']);
  const kind = expectObject(entry.kindVersion, `${at}/kindVersion`, ['kind', 'version']);
  expectText(kind.kind, `${at}/kindVersion/kind`, /^hashedrekord$/);
  const version = expectText(kind.version, `${at}/kindVersion/version`, /^0\.0\.[12]$/);
  const isPromised = version === promisedEntryKind.version;
  if (isPromised) {
    const promiseAt = `${at}/inclusionPromise`;
    const { signedEntryTimestamp } = expectObject(entry.inclusionPromise, promiseAt, [
      'signedEntryTimestamp',
    ]);
    expectInt64(entry.integratedTime, `${at}/integratedTime`);
    expectInt64(entry.logIndex, `${at}/logIndex`);
    expectBase64(signedEntryTimestamp, `${promiseAt}/signedEntryTimestamp`);
  } else {
    // Rekor v2 promises nothing.
    expectObject(entry, at, members);
    expectText(entry.integratedTime ?? '0', `${at}/integratedTime`, /^0$/);
  }
  const { keyId } = expectObject(entry.logId, `${at}/logId`, ['keyId']);
  const index = requireProofForm(entry.inclusionProof, `${at}/inclusionProof`);
  if (!isPromised) expectText(entry.logIndex, `${at}/logIndex`, new RegExp(`^${index}$`));
  expectBase64(keyId, `${at}/logId/keyId`);
  expectBase64(entry.canonicalizedBody, `${at}/canonicalizedBody`);
  return entry;
}

/** Answers the index in its tree. */
function requireProofForm(value: unknown, at: string): number {
  const proof = expectObject(value, at, ['logIndex', 'rootHash', 'treeSize', 'hashes', 'checkpoint']);
  const { envelope } = expectObject(proof.checkpoint, `${at}/checkpoint`, ['envelope']);
  const index = expectInt64(proof.logIndex, `${at}/logIndex`);
  expectBase64(proof.rootHash, `${at}/rootHash`);
  expectInt64(proof.treeSize, `${at}/treeSize`);
  for (const [n, hash] of expectArray(proof.hashes, `${at}/hashes`, 63).entries())
    expectBase64(hash, `${at}/hashes/${n}`);
  expectText(envelope, `${at}/checkpoint/envelope`);
  return index;
}

/** A member that the form has, as its decoding gives it. */
function required<T>(member: T | undefined, path: string): T {
  if (member !== undefined) return member;
  throw new WritError('ATTESTATION_MALFORMED', {
    message: `expected an object at \`${path}\``,
    detail: { path, expected: 'an object' },
  });
}
