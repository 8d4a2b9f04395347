import { isWritError } from '../../core/base/errors.ts';
import { type Checkpoint, parseCheckpoint, verifyCheckpoint } from '../log/checkpoint.ts';
import type { CheckpointMemory } from '../log/checkpoint-memory.ts';
import { findEntry } from '../log/find-entry.ts';
import type { LedgerKey } from '../log/ledger-key.ts';
import { isPrefix } from '../log/ledger-proofs.ts';
import { type LedgerFileReader, readSubtrees } from '../log/tile-reader.ts';
import type { CheckList } from './check-list.ts';
import { refuted } from './report.ts';
import type { VerifiedInclusion } from './verify-log.ts';

/** What the ledger beside the repository, once shown to continue the log of the proof, says of the run since. */
export interface LaterEntries {
  /** Number of the entry that revokes it. */
  readonly revokedAt: number | undefined;
}

/** A ledger that has grown each time that it did not hold is not read for ever. */
const maxAttempts = 8;

interface Judged {
  readonly remembered: boolean;
  readonly later: LaterEntries | undefined;
}

/**
 * The log never showed this user anything else: same root at a size seen before; and where the ledger itself is at hand, the checkpoint
 * of the proof and the largest one ever seen are both prefixes of it (`forked`), and it has not shrunk (`stale`). What was seen is remembered.
 * Without the ledger two sizes cannot be compared; that is reported as `not-comparable` and not counted. Gives what the ledger's entries after
 * the proof's say, each of them shown to be in its tree; `undefined` where no ledger is at hand or it does not hold.
 */
export async function verifyHistory(
  list: CheckList,
  { index, checkpoint, keys }: VerifiedInclusion,
  memory: CheckpointMemory,
  readLedger: LedgerFileReader | undefined,
  revokes: (body: Uint8Array) => boolean,
): Promise<LaterEntries | undefined> {
  const current = await currentHead(readLedger, checkpoint.origin);
  const [same, largest] = await Promise.all([
    memory.at(checkpoint.origin, checkpoint.size),
    memory.latest(checkpoint.origin),
  ]);
  if (current === undefined && same === undefined && largest !== undefined) {
    list.waive('log-history', 'not-comparable', { seen: largest.size, found: checkpoint.size });
    await remember(memory, [checkpoint]);
    return undefined;
  }
  const judged = await list.judge<Judged>(
    'log-history',
    async () => {
      if (current === undefined || readLedger === undefined) {
        return { remembered: await remember(memory, [checkpoint]), later: undefined };
      }
      const earlier = largest === undefined ? [checkpoint] : [checkpoint, largest];
      const search = { start: index + 1, revokes };
      const { head, revokedAt } = await requirePrefixes(earlier, current, readLedger, keys, search);
      return { remembered: await remember(memory, [head, checkpoint]), later: { revokedAt } };
    },
    ({ remembered }) => (remembered ? undefined : { remembered: 'no' }),
  );
  return judged?.later;
}

/** Refuses another root of a size seen before. A home that cannot be written to is no reason to doubt the log; that is told. */
async function remember(memory: CheckpointMemory, checkpoints: readonly Checkpoint[]): Promise<boolean> {
  try {
    for (const checkpoint of checkpoints) await memory.remember(checkpoint);
    return true;
  } catch (fault) {
    if (['EROFS', 'EACCES', 'EPERM'].includes((fault as NodeJS.ErrnoException).code ?? '')) return false;
    throw fault;
  }
}

async function requirePrefixes(
  earlier: readonly Checkpoint[],
  current: Checkpoint,
  read: LedgerFileReader,
  keys: readonly LedgerKey[],
  search: { readonly start: number; readonly revokes: (body: Uint8Array) => boolean },
  attempts = maxAttempts,
): Promise<{ readonly head: Checkpoint; readonly revokedAt: number | undefined }> {
  const head = verifyCheckpoint(current.source, keys);
  try {
    for (const checkpoint of earlier) await requirePrefix(checkpoint, head, read);
    return { head, revokedAt: await findEntry(read, head, search.start, search.revokes) };
  } catch (fault) {
    if (!isWritError(fault, 'LEDGER_CORRUPT')) throw fault;
    // An append in between replaces partial tiles; a larger head then reads whole again.
    const next = await currentHead(read, head.origin);
    if (attempts > 1 && next !== undefined && next.size > head.size) {
      return requirePrefixes(earlier, next, read, keys, search, attempts - 1);
    }
    throw refuted('malformed', { found: fault.message });
  }
}

async function requirePrefix(earlier: Checkpoint, head: Checkpoint, read: LedgerFileReader): Promise<void> {
  if (head.size < earlier.size) {
    throw refuted('stale', { origin: head.origin, seen: earlier.size, found: head.size });
  }
  if (await isPrefix(earlier, head, readSubtrees(read, head.size))) return;
  throw refuted('forked', { origin: head.origin, seen: earlier.size, found: head.size });
}

/** The ledger beside the repository, if it is the log in question; another log's says nothing. */
async function currentHead(
  read: LedgerFileReader | undefined,
  origin: string,
): Promise<Checkpoint | undefined> {
  const bytes = await read?.('checkpoint');
  if (bytes === undefined) return undefined;
  try {
    const head = parseCheckpoint(Buffer.from(bytes).toString('utf8'));
    return head.origin === origin ? head : undefined;
  } catch (fault) {
    if (isWritError(fault, 'ATTESTATION_MALFORMED')) return undefined;
    throw fault;
  }
}
