/* Writes and reads stored objects: a header, a body of a known shape, canonical JSON. */
import { sha256Hex } from '../core/base/canonical.ts';
import { toRfc3339 } from '../core/base/clock.ts';
import { WritError } from '../core/base/errors.ts';
import { uuidV7 } from '../core/base/ids.ts';
import { parseStrictJson } from '../core/base/strict-json.ts';
import { type ObjectBody, type ObjectType, objectShapes, objectTypes } from './object-shapes.ts';
import { toJson } from './record/record-paths.ts';
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
  const bytes = toJson(object);
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

/* The problems that `writ fsck` reports. */
export type ProblemCode =
  /** A ref that git cannot read, or that points to no commit. */
  | 'ref-broken'
  /** A git object that is missing, or does not match its id. */
  | 'object-missing'
  | 'object-corrupt'
  /** A stored file with content that does not have the shape of its name. */
  | 'object-malformed'
  | 'digest-mismatch'
  /** A name of something that does not exist. */
  | 'reference-missing'
  /** Artifact content that is missing before its expiry. */
  | 'content-missing'
  /** Content in another store, which could not be reached. */
  | 'content-unread'
  | 'journal-corrupt'
  /** A journal that ends before the record that was made from it. */
  | 'journal-cut'
  /** The place of a thread, its journal or its lock has another kind of file. */
  | 'thread-foreign'
  /** The journal of a thread without a valid MAC. */
  | 'thread-unproven'
  /** The index of threads is unusable, or contradicts the journals. */
  | 'thread-index'
  /** The audit log of a thread has a changed line. */
  | 'audit-altered'
  /** The audit log ends before its last written line. */
  | 'audit-cut'
  /** Lines of the audit log, or all of it, are missing. */
  | 'audit-missing'
  /** A file of the audit log that this user did not write here, or that others can access. */
  | 'audit-foreign'
  | 'ledger-checkpoint'
  | 'ledger-tile'
  | 'ledger-entry'
  /** A file of the ledger that cannot be read. */
  | 'ledger-unreadable';

/** A problem, and what depends on it. */
export interface Problem {
  readonly code: ProblemCode;
  /** `<ref>:<path>`, a ref, or a path. */
  readonly where: string;
  readonly what: string;
  readonly object?: string;
  /** The ref that names the missing object. */
  readonly namedBy?: string;
  /** `run:<id>`, `decision:<id>`, `commit:<sha>`. */
  readonly dependsOn: readonly string[];
}

export type Found = Omit<Problem, 'dependsOn'>;

/** A problem of records, with the refs of those. */
export type FoundAt = Found & { readonly refs: readonly string[] };

/** `index`: the wrong entry; `from`: every entry from there on; `ref`: only that run; none of them: all entries. */
export interface LedgerFindings {
  readonly entries: number;
  readonly problems: readonly (Found & {
    readonly index?: number;
    readonly from?: number;
    readonly ref?: string;
  })[];
}
