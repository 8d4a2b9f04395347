import { isObject, isText, type JsonObject } from './read-json.ts';

const number = /^\d{1,16}$/;
const hex = /^[0-9a-f]{64}$/i;
const base64 = /^[A-Za-z0-9+/]{43}=$/;

/**
 * What a document lacks to be a Rekor-style inclusion proof, alone or inside a log entry or bundle; `undefined` where
 * it is.
 */
export function inclusionProofFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  const proof = proofIn(value);
  if (!proof) return 'no `inclusionProof`';
  const size = toNumber(proof.treeSize);
  const index = toNumber(proof.logIndex);
  if (size === undefined) return 'no `treeSize`';
  if (index === undefined || index >= size) return 'no `logIndex` below `treeSize`';
  if (!isHash(proof.rootHash)) return 'no `rootHash` of 32 bytes in hex or base64';
  const { hashes = [] } = proof;
  if (!Array.isArray(hashes) || !hashes.every(isHash)) return 'no `hashes` of 32 bytes each';
  return hashes.length > 64 ? `${hashes.length} \`hashes\`, more than a tree can have levels` : undefined;
}

/**
 * Where the formats put it: on its own, in an entry, in an entry's `verification`, in a bundle's first entry, under a
 * Rekor UUID.
 */
function proofIn(value: JsonObject): JsonObject | undefined {
  if (value.rootHash !== undefined) return value;
  const material = isObject(value.verificationMaterial) ? value.verificationMaterial : value;
  const entries = material.tlogEntries;
  const values = Object.values(value);
  const entry = Array.isArray(entries)
    ? entries[0]
    : values.length === 1 && isObject(values[0])
      ? values[0]
      : value;
  if (!isObject(entry)) return undefined;
  const holder = isObject(entry.verification) ? entry.verification : entry;
  if (isObject(holder.inclusionProof)) return holder.inclusionProof;
  return isObject(value.inclusionProof) ? value.inclusionProof : undefined;
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'string' && number.test(value)) return Number(value);
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
}

function isHash(value: unknown): boolean {
  return isText(value) && (hex.test(value) || base64.test(value));
}
