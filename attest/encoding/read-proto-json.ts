import { type JsonObject, parseJsonObject } from './expect-json.ts';

/** 64-bit numbers of a log entry, which protobuf JSON writes as text and takes as either. */
const longs: readonly string[] = ['logIndex', 'treeSize', 'integratedTime'];

/**
 * Reads a document of protobuf JSON as any writer of it may have written it: strict JSON up to `maxBytes` and 32
 * levels, a member that is `null` being unset, a 64-bit number of a log entry being text. ATTESTATION_MALFORMED.
 */
export function readProtoJson(bytes: Uint8Array, maxBytes: number): JsonObject {
  return toPlainProto(parseJsonObject(bytes, maxBytes));
}

/** The same document with what is `null` left out and 64-bit numbers of log entries as text. */
export function toPlainProto(document: JsonObject): JsonObject {
  return plain(document) as JsonObject;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      longs.includes(name) && Number.isSafeInteger(member) ? String(member) : plain(member),
    ]),
  );
}
