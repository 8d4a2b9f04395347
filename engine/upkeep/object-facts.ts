/* Extracts from a stored file what `writ fsck` compares, so that its bytes need not be kept. */
import { canonicalDigest, sha256Hex } from '../../core/base/canonical.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type ObjectType, objectTypes, parseArtifactRef } from '../../store/object-shapes.ts';
import { parseJournal } from '../../store/parse-journal.ts';
import { readGateReport } from '../../store/record/gate-report.ts';
import { sealPaths } from '../../store/record/record-paths.ts';
import { maskedPath, parseMaskedRecord } from '../../store/record/summaries.ts';
import { verdictDigest } from '../../store/record/verdict.ts';
import { parseObject, type StoredObject } from '../../store/stored-object.ts';
import { parseWaitingRecord, waitingPath } from '../record/stored-approvals.ts';

/**
 * SHA-256 of the files that an evidence manifest lists, by path; throws a WritError for anything else. Verifies no
 * signature.
 */
export type ManifestReader = (bytes: Uint8Array) => ReadonlyMap<string, string>;

export interface FileFacts {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Why its content does not match its name. */
  readonly problem?: string;
  readonly object?: ObjectFacts;
  /** Digest of the canonical form, for documents that are named by it. */
  readonly canonical?: string;
  /** Digest of the verdict in a gate report. */
  readonly verdict?: string;
  /** Digests of other files that it states, by field. */
  readonly claims?: Readonly<Record<string, string>>;
  /** Seals that a commit under this `effective.json` must have. */
  readonly seals?: readonly string[];
  /** SHA-256 of the files that an evidence manifest lists, by path. */
  readonly listed?: ReadonlyMap<string, string>;
  /** Log index of a log proof. */
  readonly logIndex?: number;
  /** SHA-256 of the content that an ArtifactRef in a content ref names. */
  readonly refersTo?: string;
}

export interface ObjectFacts {
  readonly type: ObjectType;
  readonly id: string;
  /** Ids of other objects, by the naming field. */
  readonly names: readonly (readonly [field: string, id: string])[];
  /** Artifact content in refs: `<ref>:<path>`. */
  readonly reports: readonly {
    readonly key: string;
    readonly sha256: string;
    readonly expiresAtMs?: number;
  }[];
  /** The commit of a decision. */
  readonly commit?: string;
  /** The full name of the target branch of a decision. */
  readonly target?: string;
  readonly decision?: string;
  /** `metadata.id` of an intent's spec. */
  readonly specId?: string;
}

/** Documents without an object header that are named by canonical digest. */
const documents = [
  'spec.json',
  'effective.json',
  'gate-report.json',
  'decision-input.json',
  'decision-record.json',
];
const claimed = [
  'digest',
  'input_digest',
  'decision_digest',
  'intentspec_digest',
  'inputDigest',
  'gateReportDigest',
  'specDigest',
  'patchDigest',
  'sha256',
  'originalSha256',
  'storedSha256',
];
/** Fields of objects with the id of another object, or a list of ids, and the type of that. */
export const referred: Readonly<Record<string, ObjectType>> = {
  run: 'run',
  patchset: 'patchset',
  plan: 'plan',
  task: 'task',
  intent: 'intent',
  attempt_of: 'run',
  snapshot: 'context_snapshot',
  evidence: 'evidence',
  tasks: 'task',
  depends_on: 'task',
};
const maxBytes = 64 * 1024 * 1024;

/** Reads one file of a record; of all other files only size and digest. */
export function readFacts(
  path: string,
  bytes: Buffer,
  isRecord: boolean,
  readManifest?: ManifestReader,
): FileFacts {
  const plain = { sha256: sha256Hex(bytes), sizeBytes: bytes.length };
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!isRecord) return { ...plain, ...referenceIn(path, bytes) };
  try {
    if (name.endsWith('.jsonl')) parseJournal(bytes, path);
    if (name.endsWith('.tlog-proof')) return { ...plain, ...logIndexOf(bytes) };
    if (!name.endsWith('.json')) return plain;
    const { value } = parseStrictJson(bytes, { code: 'OBJECT_CORRUPT', maxBytes });
    const fields = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
      Record<string, unknown>
    >;
    const type = objectTypes.find((one) => one === fields.object_type);
    if (type === undefined && isObjectPath(path))
      return { ...plain, problem: 'it is no object of a known type' };
    const isWaiting = path === waitingPath;
    if (isWaiting) parseWaitingRecord(bytes);
    const report = path === 'gate-report.json' ? readGateReport(bytes) : undefined;
    if (path === maskedPath) parseMaskedRecord(bytes);
    return {
      ...plain,
      ...(report ? { verdict: verdictDigest(report) } : {}),
      claims: claimsOf(isWaiting ? (fields.subject as typeof fields) : fields),
      ...(documents.includes(name) ? { canonical: canonicalDigest(value) } : {}),
      ...(path === sealPaths.manifest && readManifest ? { listed: readManifest(bytes) } : {}),
      ...(path === 'effective.json' ? { seals: demandedSeals(fields) } : {}),
      ...(type === undefined ? {} : { object: factsOf(parseObject(type, bytes)) }),
    };
  } catch (fault) {
    const isManifest = path === sealPaths.manifest && isWritError(fault);
    if (isManifest || isWritError(fault, 'OBJECT_CORRUPT') || isWritError(fault, 'JOURNAL_CORRUPT'))
      return { ...plain, problem: fault.message };
    throw fault;
  }
}

/** Stores with content refs in git. */
const inGit: readonly string[] = ['git-native', 'external-s3'];

function referenceIn(path: string, bytes: Buffer): Pick<FileFacts, 'refersTo'> {
  if (bytes[0] !== 0x7b) return {};
  try {
    return { refersTo: parseArtifactRef(bytes, path).sha256 };
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return {};
    throw fault;
  }
}

/**
 * Seal files that a commit must have. Empty unless the spec requires provenance and rolls back when provenance fails.
 */
function demandedSeals(effective: Readonly<Record<string, unknown>>): readonly string[] {
  const { provenance, objmodel } = effective as unknown as Partial<EffectiveIntentSpec>;
  if (
    provenance?.requireSlsaProvenance !== true ||
    objmodel?.decisionPolicy?.rollbackOnProvenanceFail !== true
  )
    return [];
  const isLogged = provenance.transparencyLog?.mode === 'internal-ledger';
  const { decision, bundle, proof, summary, manifest } = sealPaths;
  return [decision, bundle, ...(isLogged ? [proof] : []), summary, manifest];
}

function isObjectPath(path: string): boolean {
  return /(?:^|\/)(?:intent|plan|run|patchset|decision|rollback|usage)\.json$|(?:^|\/)(?:evidence|tasks)\/[^/]+\.json$/.test(
    path,
  );
}

function factsOf(object: StoredObject<ObjectType>): ObjectFacts {
  const fields = object as unknown as Readonly<Record<string, unknown>>;
  const names = Object.keys(referred).flatMap((field) => {
    const given = fields[field];
    const ids = Array.isArray(given) ? given : typeof given === 'string' ? [given] : [];
    return ids.map((id) => [field, String(id)] as const);
  });
  return {
    type: object.object_type,
    id: object.object_id,
    names,
    reports:
      object.object_type === 'evidence'
        ? (object as StoredObject<'evidence'>).reports
            .filter(({ store }) => inGit.includes(store))
            .map(({ key, sha256 }) => ({ key, sha256 }))
        : [],
    ...(object.object_type === 'decision' ? decisionOf(object as StoredObject<'decision'>) : {}),
    ...(object.external_ids.intentspec_id === undefined ? {} : { specId: object.external_ids.intentspec_id }),
  };
}

function decisionOf({
  type,
  commit_sha,
  target_ref,
}: StoredObject<'decision'>): Pick<ObjectFacts, 'commit' | 'target' | 'decision'> {
  return {
    decision: type,
    ...(commit_sha === undefined ? {} : { commit: commit_sha }),
    ...(target_ref === undefined ? {} : { target: target_ref }),
  };
}

function claimsOf(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const claims: Record<string, string> = {};
  for (const name of claimed) if (typeof fields[name] === 'string') claims[name] = fields[name];
  const ids = Object(fields.external_ids) as Readonly<Record<string, unknown>>;
  for (const name of ['previous', 'intentspec_digest'])
    if (typeof ids[name] === 'string') claims[name] ??= ids[name];
  return claims;
}

/** C2SP tlog-proof: a line `index <number>`. */
function logIndexOf(bytes: Buffer): { readonly logIndex?: number } {
  const found = /^index ([0-9]{1,15})$/m.exec(bytes.toString('latin1'))?.[1];
  return found === undefined ? {} : { logIndex: Number(found) };
}
