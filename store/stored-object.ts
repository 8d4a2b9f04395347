/* Writes and reads stored objects: a header, a body of a known shape, canonical JSON. */
import { canonicalize } from '../core/base/canonical.ts';
import { toRfc3339 } from '../core/base/clock.ts';
import { sha256Hex } from '../core/base/digest.ts';
import { WritError } from '../core/base/errors.ts';
import { uuidV7 } from '../core/base/ids.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { type ObjectBody, type ObjectType, objectShapes, objectTypes } from './object-shapes.ts';
import { fields, mapOf, oneOf, type TypeOf, text, time, uuid, wholeNumber } from './shape.ts';

const headerFields = {
  object_id: uuid,
  object_type: oneOf(...objectTypes),
  version: wholeNumber,
  created_at: time,
  created_by: fields({ kind: oneOf('user', 'agent', 'system'), id: text }),
  tags: mapOf(text),
  external_ids: mapOf(text),
};
const header = fields(headerFields);

export type ObjectHeader = TypeOf<typeof header>;

export type StoredObject<T extends ObjectType> = ObjectHeader & { readonly object_type: T } & ObjectBody<T>;

/** An object and its bytes. Its content address is `sha256`; `path` is its place in the tree of a run. */
export interface SealedObject<T extends ObjectType = ObjectType> {
  readonly object: StoredObject<T>;
  readonly bytes: Buffer;
  readonly sha256: string;
  readonly path: string;
}

export interface SealOptions {
  readonly nowMs: number;
  readonly createdBy: ObjectHeader['created_by'];
  /** Set if other objects must name it before it exists. */
  readonly objectId?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly externalIds?: Readonly<Record<string, string>>;
}

const objectVersion = 1;

/** Adds the header and makes the canonical bytes. INTERNAL for a body of another shape. */
export function sealObject<T extends ObjectType>(
  type: T,
  body: ObjectBody<T>,
  options: SealOptions,
): SealedObject<T> {
  const object = {
    ...body,
    object_id: options.objectId ?? uuidV7(options.nowMs),
    object_type: type,
    version: objectVersion,
    created_at: toRfc3339(options.nowMs),
    created_by: options.createdBy,
    tags: options.tags ?? {},
    external_ids: options.externalIds ?? {},
  } as unknown as StoredObject<T>;
  const problems = problemsOf(type, object);
  if (problems.length > 0) {
    throw new WritError('INTERNAL', {
      message: `a new ${type} object is malformed: ${problems[0]}`,
      detail: { type, problems },
    });
  }
  const bytes = Buffer.from(`${canonicalize(object)}\n`);
  return { object, bytes, sha256: sha256Hex(bytes), path: `${type}/${object.object_id}.json` };
}

/**
 * Reads an object. OBJECT_CORRUPT for other bytes than `sha256` (if given), another type, unknown fields or wrong
 * values.
 */
export function parseObject<T extends ObjectType>(
  type: T,
  bytes: Uint8Array,
  sha256?: string,
): StoredObject<T> {
  if (sha256 !== undefined && sha256Hex(bytes) !== sha256) {
    throw new WritError('OBJECT_CORRUPT', {
      message: `a stored ${type} object has another digest`,
      detail: { type, expected: sha256, found: sha256Hex(bytes) },
    });
  }
  const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes: 64 * 1024 * 1024 });
  const problems = problemsOf(type, value);
  if (problems.length > 0) {
    throw new WritError('OBJECT_CORRUPT', {
      message: `a stored ${type} object is malformed: ${problems[0]}`,
      detail: { type, problems },
    });
  }
  return value as StoredObject<T>;
}

function problemsOf(type: ObjectType, value: unknown): readonly string[] {
  const problems: string[] = [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ['expected an object'];
  const parts = Object.entries(value);
  header.check(Object.fromEntries(parts.filter(([name]) => Object.hasOwn(headerFields, name))), '', problems);
  objectShapes[type].check(
    Object.fromEntries(parts.filter(([name]) => !Object.hasOwn(headerFields, name))),
    '',
    problems,
  );
  const { object_type: found, version } = value as Record<string, unknown>;
  if (found !== type) problems.push(`/object_type: expected ${type}`);
  if (version !== objectVersion) problems.push(`/version: expected ${objectVersion}`);
  return problems;
}
