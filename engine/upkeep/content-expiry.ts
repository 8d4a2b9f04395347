import { isWritError } from '../../core/base/errors.ts';
import { parseStrictJson } from '../../core/base/strict-json.ts';
import type { ObjectStore } from '../../core/interfaces/store.ts';
import { sealPaths } from '../../store/record/seal-paths.ts';
import { parseObject } from '../../store/stored-object.ts';
import type { GitDirectory } from '../../workspace/git/git.ts';
import { readEach, readHeads } from '../../workspace/git/read-each.ts';
import { waitingPath } from '../record/stored-approvals.ts';
import type { StoredRef } from './stored-ref.ts';
import { walkTrees } from './walk-trees.ts';

/** When a decided run's content expires. Times are epoch milliseconds. */
export interface ContentExpiry {
  /** When a path of the content tree is over. */
  expiresAtMs(path: string): number;
  /** When the last of it is over. */
  readonly lastMs: number;
  /** `objmodel.objectStore.blobRetentionStrategy`, if the record contains it. */
  readonly blobStrategy: string | undefined;
}

const dayMs = 86_400_000;
const runsAtOnce = 200;
const finalTypes: readonly string[] = ['commit', 'abandon', 'rollback'];
const maxBytes = 64 * 1024 * 1024;

/**
 * Returns expiries by run ref, computed from the run's record: min(creation + artifacts.days, final Decision +
 * privacy.days). A waiting run or one with an unreadable record has none: its content stays.
 */
export async function readExpiries(
  place: GitDirectory,
  runs: readonly StoredRef[],
): Promise<ReadonlyMap<string, ContentExpiry>> {
  const expiries = new Map<string, ContentExpiry>();
  for (let at = 0; at < runs.length; at += runsAtOnce) {
    const chunk = runs.slice(at, at + runsAtOnce);
    const walked = await walkTrees(
      place,
      chunk.map(({ object }) => object),
      { broken: () => {} },
    );
    const wanted = [...walked.values()].flatMap(({ files }) =>
      [...files].flatMap(([path, object]) => (isNeeded(path) ? [object] : [])),
    );
    const bytes = new Map<string, Buffer>();
    await readEach(place, wanted, await readHeads(place, wanted), (id, object) => {
      if (object) bytes.set(id, object.bytes);
    });
    for (const { ref, object } of chunk) {
      const files = new Map<string, Buffer | undefined>();
      for (const [path, id] of walked.get(object)?.files ?? [])
        if (isNeeded(path)) files.set(path, bytes.get(id));
      const expiry = readExpiry(files);
      if (expiry) expiries.set(ref, expiry);
    }
  }
  return expiries;
}

/** The same of runs in a store that is not git. */
export async function readStoredExpiries(
  store: Pick<ObjectStore, 'list' | 'readMany'>,
  runs: readonly StoredRef[],
): Promise<ReadonlyMap<string, ContentExpiry>> {
  const expiries = new Map<string, ContentExpiry>();
  for (const { ref } of runs) {
    try {
      const paths = (await store.list(ref)).map(({ path }) => path).filter(isNeeded);
      const expiry = readExpiry(await store.readMany(ref, paths));
      if (expiry) expiries.set(ref, expiry);
    } catch (fault) {
      if (!isWritError(fault, 'OBJECT_CORRUPT')) throw fault;
    }
  }
  return expiries;
}

/** Top-level documents, and the evidence of the candidate and of every attempt. */
function isNeeded(path: string): boolean {
  const documents: readonly string[] = ['decision.json', sealPaths.rollback, 'effective.json', waitingPath];
  return documents.includes(path) || /(?:^|\/)evidence\/[^/]+\.json$/.test(path);
}

/** Computes the expiry from a run's `isNeeded` files; `undefined` if the run is undecided or a file is unreadable. */
function readExpiry(files: ReadonlyMap<string, Buffer | undefined>): ContentExpiry | undefined {
  if (files.has(waitingPath)) return undefined;
  const decision = files.get(sealPaths.rollback) ?? files.get('decision.json');
  const effective = files.get('effective.json');
  if (!decision || !effective || [...files.values()].includes(undefined)) return undefined;
  try {
    const last = parseObject('decision', decision);
    if (!finalTypes.includes(last.type)) return undefined;
    const spec = parseStrictJson(effective, { code: 'OBJECT_CORRUPT', maxBytes }).value;
    const artifactDays = daysAt(spec, 'artifacts', 'retention', 'days');
    const privacyDays = daysAt(spec, 'constraints', 'privacy', 'retentionDays');
    if (artifactDays === undefined || privacyDays === undefined) return undefined;
    const blobs = ['objmodel', 'objectStore', 'blobRetentionStrategy'].reduce(memberOf, spec);
    const limits = { decidedAtMs: Date.parse(last.created_at), artifactDays, privacyDays };
    return {
      ...expiryOf(limits, shownExpiries(files)),
      blobStrategy: typeof blobs === 'string' ? blobs : undefined,
    };
  } catch (fault) {
    if (isWritError(fault, 'OBJECT_CORRUPT')) return undefined;
    throw fault;
  }
}

interface Limits {
  readonly decidedAtMs: number;
  readonly artifactDays: number;
  readonly privacyDays: number;
}

/** `shown` maps a path to the artifact's recorded expiry: its creation plus the shorter of the two limits. */
export function expiryOf(
  { decidedAtMs, artifactDays, privacyDays }: Limits,
  shown: ReadonlyMap<string, number>,
): Pick<ContentExpiry, 'expiresAtMs' | 'lastMs'> {
  const shorterMs = Math.min(artifactDays, privacyDays) * dayMs;
  const afterDecisionMs = decidedAtMs + privacyDays * dayMs;
  const expiresAtMs = (path: string): number => {
    // An artifact without a date was created at the decision at the latest.
    const createdAtMs = Math.min((shown.get(path) ?? decidedAtMs + shorterMs) - shorterMs, decidedAtMs);
    return Math.min(createdAtMs + artifactDays * dayMs, afterDecisionMs);
  };
  return { expiresAtMs, lastMs: decidedAtMs + shorterMs };
}

/** Path of the content tree → `expiresAt` of its ArtifactRef. */
function shownExpiries(files: ReadonlyMap<string, Buffer | undefined>): ReadonlyMap<string, number> {
  const shown = new Map<string, number>();
  for (const [path, bytes] of files) {
    if (!bytes || !/(?:^|\/)evidence\//.test(path)) continue;
    for (const { key, expiresAt } of parseObject('evidence', bytes).reports) {
      if (expiresAt !== undefined) shown.set(key.slice(key.indexOf(':') + 1), Date.parse(expiresAt));
    }
  }
  return shown;
}

function daysAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = names.reduce(memberOf, value);
  return Number.isSafeInteger(found) && Number(found) >= 0 ? Number(found) : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
