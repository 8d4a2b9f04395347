import { canonicalDigest } from '../../core/base/canonical.ts';
import { sha256Hex } from '../../core/base/digest.ts';
import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { EffectiveIntentSpec } from '../../core/interfaces/intentspec.gen.ts';
import { type ObjectType, objectTypes } from '../../store/object-shapes.ts';
import { parseJournal } from '../../store/parse-journal.ts';
import { maskedPath, parseMaskedRecord } from '../../store/record/masked-record.ts';
import { readGateReport } from '../../store/record/read-gate-report.ts';
import { sealPaths } from '../../store/record/seal-paths.ts';
import { verdictDigest } from '../../store/record/verdict.ts';
import { parseObject, type StoredObject } from '../../store/stored-object.ts';
import { parseWaitingRecord, waitingPath } from '../record/stored-approvals.ts';

/** SHA-256 of the files that an evidence manifest lists, by path; a WritError if it is none. Verifies no signature. */
export type ManifestReader = (bytes: Uint8Array) => ReadonlyMap<string, string>;

/** What checking needs to know of one stored file, its bytes forgotten. */
export interface FileFacts {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Why the file is not what its name promises. */
  readonly problem?: string;
  readonly object?: ObjectFacts;
  /** Digest of the canonical form, of documents that others name by it. */
  readonly canonical?: string;
  /** Digest of the verdict in it, of the gate report. */
  readonly verdict?: string;
  /** Digests that it claims of other files, by field. */
  readonly claims?: Readonly<Record<string, string>>;
  /** For `effective.json`: the seals that a commit under this spec must have. */
  readonly seals?: readonly string[];
  /** SHA-256 of the files of the record by path, of the evidence manifest. */
  readonly listed?: ReadonlyMap<string, string>;
  /** Index in the log, of a log proof. */
  readonly logIndex?: number;
}

/** An object and what it names. */
export interface ObjectFacts {
  readonly type: ObjectType;
  readonly id: string;
  /** Other objects by the field that names them. */
  readonly names: readonly (readonly [field: string, id: string])[];
  /** Artifact content that is kept in refs: `<ref>:<path>`. */
  readonly reports: readonly {
    readonly key: string;
    readonly sha256: string;
    readonly expiresAtMs?: number;
  }[];
  /** Decision: the commit that it made. */
  readonly commit?: string;
  /** Decision: the full name of the branch that the commit was put on. */
  readonly target?: string;
  readonly decision?: string;
  /** Intent: `metadata.id` of its spec. */
  readonly specId?: string;
}

/** Documents that are not objects but are referenced by canonical digest. */
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
const naming = ['run', 'patchset', 'plan', 'task', 'intent', 'attempt_of', 'snapshot'];
const namingLists = ['evidence', 'tasks', 'depends_on'];
const maxBytes = 64 * 1024 * 1024;

/** Reads one file of a record. Files below `artifacts/` and other content are treated as plain bytes. */
export function readFacts(
  path: string,
  bytes: Buffer,
  isRecord: boolean,
  readManifest?: ManifestReader,
): FileFacts {
  const plain = { sha256: sha256Hex(bytes), sizeBytes: bytes.length };
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (!isRecord) return plain;
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

/** A commit may lack provenance only if the spec does not roll back on a provenance failure. */
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

/** Files that must hold an object. */
function isObjectPath(path: string): boolean {
  return /(?:^|\/)(?:intent|plan|run|patchset|decision|rollback|usage)\.json$|(?:^|\/)(?:evidence|tasks)\/[^/]+\.json$/.test(
    path,
  );
}

function factsOf(object: StoredObject<ObjectType>): ObjectFacts {
  const fields = object as unknown as Readonly<Record<string, unknown>>;
  const names: [string, string][] = [];
  for (const field of naming) if (typeof fields[field] === 'string') names.push([field, fields[field]]);
  for (const field of namingLists)
    if (Array.isArray(fields[field])) for (const id of fields[field]) names.push([field, String(id)]);
  return {
    type: object.object_type,
    id: object.object_id,
    names,
    reports:
      object.object_type === 'evidence'
        ? (object as StoredObject<'evidence'>).reports
            .filter(({ store }) => store === 'git-native')
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
