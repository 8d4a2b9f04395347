/* Stored approvals, and the record of a waiting run. */
import { canonicalize } from '../../core/base/canonical.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { parseShaped } from '../../store/record/record-paths.ts';
import {
  fields,
  gitObject,
  listOf,
  mapOf,
  oneOf,
  orNull,
  sha256Text,
  type TypeOf,
  text,
  wholeNumber,
} from '../../store/shape.ts';
import type { RunStore } from '../../store/stores.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import type { Attempt } from '../state/open-run.ts';
import { ownedPaths } from './decision-input.ts';

/** File of a signed approval on `refs/ai/approvals/<run>/<n>`. */
const approvalPath = 'approval.json';

/** A signed approval as it is stored, unjudged; `source` is its ref. */
export interface StoredApproval {
  readonly source: string;
  readonly bytes: Uint8Array;
}

/**
 * Everything under the run's approval refs, in the order of their numbers. A ref that holds no approval is one of no
 * bytes.
 */
export async function listApprovals(
  { objects, refs }: RunStore,
  runId: string,
): Promise<readonly StoredApproval[]> {
  const prefix = refs.approvals(runId);
  const found: StoredApproval[] = [];
  for (const { ref } of await objects.refs(prefix)) {
    found.push({ source: ref, bytes: (await readApproval(objects, ref)) ?? new Uint8Array() });
  }
  const order = (source: string): number => numberOf(prefix, source) ?? Number.POSITIVE_INFINITY;
  return found.sort((a, b) =>
    order(a.source) < order(b.source) ? -1 : order(a.source) > order(b.source) ? 1 : 0,
  );
}

/**
 * Refs come from elsewhere: one that is damaged, or larger than any approval, is one of no bytes, and hinders no other.
 */
async function readApproval(objects: RunStore['objects'], ref: string): Promise<Uint8Array | undefined> {
  try {
    return await objects.read(ref, approvalPath);
  } catch (fault) {
    if (
      isWritError(fault) &&
      ['INPUT_TOO_LARGE', 'GIT_FAILED', 'OBJECTS_MISSING', 'OBJECT_CORRUPT'].includes(fault.code)
    )
      return undefined;
    throw fault;
  }
}

/**
 * Stores a signed approval under the next free number and returns its ref. If another process uses that number first,
 * tries the next one.
 */
export async function storeApproval(
  { objects, refs }: RunStore,
  runId: string,
  bytes: Uint8Array,
  message: string,
): Promise<string> {
  const prefix = refs.approvals(runId);
  for (let lost = 0; ; lost += 1) {
    const taken = (await objects.refs(prefix)).map(({ ref }) => numberOf(prefix, ref) ?? 0);
    const ref = `${prefix}${Math.max(0, ...taken) + 1}`;
    try {
      await objects.writeTree(ref, {
        message,
        files: [[approvalPath, bytes]],
        keepExisting: false,
        expectedOld: null,
      });
      return ref;
    } catch (fault) {
      const wasTaken =
        isWritError(fault, 'EVIDENCE_WRITE_FAILED') && (await objects.version(ref)) !== undefined;
      if (!wasTaken || lost >= 100) throw fault;
    }
  }
}

function numberOf(prefix: string, ref: string): number | undefined {
  const name = ref.slice(prefix.length);
  return /^[1-9]\d{0,8}$/.test(name) ? Number(name) : undefined;
}

/** Who may sign: `.writ/allowed_signers` at the policy commit; `undefined` where it has none. */
export async function allowedSignersOf({
  services: { scratch },
  environment,
}: Pick<Attempt, 'environment' | 'services'>): Promise<Uint8Array | undefined> {
  return readBlob(scratch, environment.policy.tree, '.writ/allowed_signers');
}

/** File of a waiting run's record on `refs/ai/runs/<run>`. */
export const waitingPath = 'waiting.json';

const maxBytes = 1024 * 1024;

const shape = fields(
  {
    schema: oneOf('urn:writ:waiting:v1'),
    for: oneOf('approval', 'budget'),
    subject: fields({
      runId: text,
      baseCommit: orNull(gitObject),
      candidateTree: gitObject,
      patchDigest: sha256Text,
      specDigest: sha256Text,
      gateReportDigest: sha256Text,
    }),
    /** Distinct people, at least. */
    needed: wholeNumber,
    /** Identities that may not approve (`ApprovalGround.authors`). */
    authors: listOf(text),
    specId: text,
    /** The spec's summary: the goal in one sentence. */
    summary: text,
  },
  /** Principals by group, for checks that require a group; and changed paths that an owner has to approve. */
  { groups: mapOf(listOf(text)), owners: listOf(ownedPaths) },
);

/** What a run waits for, complete enough to be approved in a clone that has its refs only. */
export type WaitingRecord = Omit<TypeOf<typeof shape>, 'schema'>;

/** The record's canonical bytes; INTERNAL for what `parseWaitingRecord` would refuse. */
export function buildWaitingRecord(record: WaitingRecord): Uint8Array {
  const bytes = Buffer.from(canonicalize({ schema: 'urn:writ:waiting:v1', ...record }));
  try {
    parseWaitingRecord(bytes);
  } catch (cause) {
    if (!isWritError(cause)) throw cause;
    throw new WritError('INTERNAL', { message: cause.message, detail: cause.detail, cause });
  }
  return bytes;
}

/** Reads a record strictly; OBJECT_CORRUPT lists what is wrong. */
export function parseWaitingRecord(bytes: Uint8Array): WaitingRecord {
  const { schema: _, ...record } = parseShaped(waitingPath, shape, bytes, { maxBytes, maxDepth: 8 });
  return record;
}
