import {
  expectAnyBase64,
  expectArray,
  expectObject,
  expectText,
  type JsonObject,
} from '../encoding/expect-json.ts';

/** A log entry of a bundle, decoded. Nothing in it is verified; what is unset is what protobuf JSON says of it. */
export interface TlogEntry {
  /** Decimal; a 64-bit number may be more than a number of ours holds. */
  readonly logIndex: string;
  readonly logId: Buffer | undefined;
  readonly kind: { readonly kind: string; readonly version: string } | undefined;
  /** Seconds since the epoch, decimal. */
  readonly integratedTime: string;
  /** The signed entry timestamp. */
  readonly promise: Buffer | undefined;
  readonly proof: InclusionMembers | undefined;
  readonly body: Buffer;
}

/** What an inclusion proof holds. */
interface InclusionMembers {
  readonly logIndex: string;
  readonly rootHash: Buffer;
  readonly treeSize: string;
  readonly hashes: readonly Buffer[];
  readonly checkpoint: string | undefined;
}

/** The one decoding of a log entry; members that are not known are left aside. ATTESTATION_MALFORMED. */
export function decodeTlogEntry(entry: JsonObject, path: string): TlogEntry {
  const member = (name: string): JsonObject | undefined =>
    entry[name] === undefined ? undefined : expectObject(entry[name], `${path}/${name}`);
  const logId = member('logId');
  const kind = member('kindVersion');
  const promise = member('inclusionPromise');
  const proof = member('inclusionProof');
  const promiseAt = `${path}/inclusionPromise/signedEntryTimestamp`;
  return {
    logIndex: int64(entry.logIndex, `${path}/logIndex`),
    logId: logId && octets(logId.keyId, `${path}/logId/keyId`),
    kind: kind && {
      kind: text(kind.kind, `${path}/kindVersion/kind`),
      version: text(kind.version, `${path}/kindVersion/version`),
    },
    integratedTime: int64(entry.integratedTime, `${path}/integratedTime`),
    promise: promise && octets(promise.signedEntryTimestamp, promiseAt),
    proof: proof && decodeProof(proof, `${path}/inclusionProof`),
    body: octets(entry.canonicalizedBody, `${path}/canonicalizedBody`),
  };
}

function decodeProof(proof: JsonObject, path: string): InclusionMembers {
  const { checkpoint, hashes = [] } = proof;
  const checkpointAt = `${path}/checkpoint`;
  return {
    logIndex: int64(proof.logIndex, `${path}/logIndex`),
    rootHash: octets(proof.rootHash, `${path}/rootHash`),
    treeSize: int64(proof.treeSize, `${path}/treeSize`),
    // More than any log needs; how many are right is for whoever verifies to say.
    hashes: expectArray(hashes, `${path}/hashes`, 1024).map((hash, n) => octets(hash, `${path}/hashes/${n}`)),
    checkpoint:
      checkpoint === undefined
        ? undefined
        : text(expectObject(checkpoint, checkpointAt).envelope, `${checkpointAt}/envelope`),
  };
}

function text(value: unknown, path: string): string {
  return value === undefined ? '' : expectText(value, path);
}

function int64(value: unknown, path: string): string {
  return value === undefined ? '0' : expectText(value, path, /^-?[0-9]{1,20}$/);
}

/** Octets, of which there may be none. */
function octets(value: unknown, path: string): Buffer {
  return value === undefined || value === '' ? Buffer.alloc(0) : expectAnyBase64(value, path);
}
