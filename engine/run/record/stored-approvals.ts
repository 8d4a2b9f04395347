import { isWritError } from '../../../core/base/errors.ts';
import type { RunStore } from '../../store/run-store.ts';

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
 * Stores a signed approval under the next free number and answers its ref; a number that another process takes first is
 * left to it.
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
