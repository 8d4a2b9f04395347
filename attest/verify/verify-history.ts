/* Verifies that a log continues what this user has seen of it. */
import { isWritError } from '../../core/base/errors.ts';
import { type Checkpoint, checkpointIn, type SignedCheckpoint, verifyCheckpoint } from '../log/checkpoint.ts';
import { type CheckpointMemory, compareSeen, forked, rememberSeen } from '../log/checkpoint-memory.ts';
import { findEntry, readHistory } from '../log/ledger-reader.ts';
import type { LedgerKey } from '../log/note.ts';
import { isPrefix, type LedgerFileReader, readSubtrees } from '../log/tiles.ts';
import type { EvidenceSource } from './evidence-source.ts';
import { type CheckDetail, type CheckList, refuted } from './report.ts';
import type { VerifiedInclusion } from './verify-log.ts';

/** Later entries about the run in the local ledger, once that ledger is shown to continue the proof's log. */
export interface LaterEntries {
  /** Number of the entry that revokes it. */
  readonly revokedAt: number | undefined;
}

interface HistoryOptions {
  readonly memory: CheckpointMemory;
  /** The log must be shown to continue what this user saw. */
  readonly demanded: boolean;
  readonly revokes: (body: Uint8Array) => boolean;
}

/** A ledger that has grown each time that it did not hold is not read for ever. */
const maxAttempts = 8;

/** How the log compares with what was seen; `later` where its entries were read. */
interface Comparison {
  readonly remembered: boolean;
  readonly later?: LaterEntries;
  /** What was seen and found, where the two cannot be compared. */
  readonly open?: CheckDetail;
}

/**
 * Verifies that the log is consistent with every state that this user has seen. If the ledger is available, the
 * proof's checkpoint and the largest checkpoint ever seen must be prefixes of it (`forked`). The ledger must not have
 * shrunk (`stale`).
 *
 * Exported evidence contains the hashes of its log instead, which may be older. The memory advances only along proven
 * consistency. Sizes without a comparison are `not-comparable`. That counts if continuity is demanded, and always for
 * exported evidence.
 *
 * Returns the entries after the proof's, or `undefined` without a valid ledger.
 */
export async function verifyHistory(
  list: CheckList,
  inclusion: VerifiedInclusion,
  source: Pick<EvidenceSource, 'readLedger' | 'readMirror' | 'readSnapshot'>,
  options: HistoryOptions,
): Promise<LaterEntries | undefined> {
  let compared: Comparison;
  try {
    compared = await compareHistory(inclusion, source, options);
  } catch (fault) {
    list.refuse('log-history', fault);
    return undefined;
  }
  const { open, remembered, later } = compared;
  // A public log is never available locally, and it grows every second.
  const isCounted = inclusion.log === undefined && (options.demanded || source.readSnapshot !== undefined);
  if (open === undefined)
    list.settle('log-history', 'passed', undefined, remembered ? undefined : { remembered: 'no' });
  else if (isCounted) list.settle('log-history', 'unverified', 'not-comparable', open);
  else list.waive('log-history', 'not-comparable', open);
  return later;
}

async function compareHistory(
  { index, checkpoint, keys, log }: VerifiedInclusion,
  source: Pick<EvidenceSource, 'readLedger' | 'readMirror' | 'readSnapshot'>,
  { memory, revokes }: HistoryOptions,
): Promise<Comparison> {
  const { readSnapshot } = source;
  const ledger = log === undefined ? await newestLedger(source, checkpoint.origin, keys) : undefined;
  if (ledger !== undefined) {
    const current = verifyCheckpoint(ledger.head.source, keys);
    // After its key was rotated, the log continues what was seen of it under the key before.
    const logs = current.keyId.equals(checkpoint.keyId) ? [current] : [checkpoint, current];
    const seen = await Promise.all(logs.map((one) => memory.latest(one)));
    const earlier = [checkpoint, ...seen.filter((one) => one !== undefined), ...ledger.older];
    const search = { start: index + 1, revokes };
    const { head, revokedAt } = await requirePrefixes(
      earlier,
      ledger.head,
      ledger.read,
      keys,
      memory,
      search,
    );
    const history = await historyOf(ledger.read, head);
    return { remembered: await rememberSeen([checkpoint, head], memory, history), later: { revokedAt } };
  }
  const compared = await compareSeen(checkpoint, memory);
  const snapshot = log === undefined ? await currentHead(readSnapshot, checkpoint.origin) : undefined;
  if (snapshot !== undefined && readSnapshot !== undefined)
    return compareSnapshot(checkpoint, verifyCheckpoint(snapshot.source, keys), readSnapshot, memory);
  // A public log's checkpoint is compared only with a stored one of the same size, never with the largest.
  if (compared === 'first' || log !== undefined) {
    const remembered = await rememberSeen([checkpoint], memory);
    return compared === 'unknown' ? unknown(checkpoint, memory, log && { log: 'public' }) : { remembered };
  }
  if (compared === 'same') return { remembered: true };
  return unknown(checkpoint, memory);
}

/** What was exported of the log is a past of it: it continues what was seen, or is a part of it. */
async function compareSnapshot(
  checkpoint: SignedCheckpoint,
  head: SignedCheckpoint,
  read: LedgerFileReader,
  memory: CheckpointMemory,
): Promise<Comparison> {
  let history: ReadonlyMap<string, Buffer>;
  try {
    history = await readHistory(read, head);
    await requirePrefix(checkpoint, head, read);
    const seen = await memory.latest(head);
    if (seen !== undefined && seen.size <= head.size) await requirePrefix(seen, head, read);
    else if ((await compareSeen(head, memory)) === 'unknown') return unknown(head, memory);
  } catch (fault) {
    if (!isWritError(fault, 'LEDGER_CORRUPT')) throw fault;
    // The exported tiles of a large log do not distinguish all older sizes.
    if (fault.detail.missing === true) return unknown(checkpoint, memory);
    throw refuted('malformed', { found: fault.message });
  }
  return { remembered: await rememberSeen([checkpoint, head], memory, history) };
}

async function unknown(
  found: SignedCheckpoint,
  memory: CheckpointMemory,
  more: CheckDetail = {},
): Promise<Comparison> {
  const seen = await memory.latest(found);
  return { remembered: true, open: { seen: seen?.size ?? 0, found: found.size, ...more } };
}

/** The tiles that later prove smaller sizes; none where the ledger is damaged, which another check reports. */
async function historyOf(
  read: LedgerFileReader,
  head: Checkpoint,
): Promise<ReadonlyMap<string, Buffer> | undefined> {
  try {
    return await readHistory(read, head);
  } catch (fault) {
    if (isWritError(fault, 'LEDGER_CORRUPT')) return undefined;
    throw fault;
  }
}

async function requirePrefixes(
  earlier: readonly Checkpoint[],
  current: Checkpoint,
  read: LedgerFileReader,
  keys: readonly LedgerKey[],
  memory: CheckpointMemory,
  search: { readonly start: number; readonly revokes: (body: Uint8Array) => boolean },
  attempts = maxAttempts,
): Promise<{ readonly head: SignedCheckpoint; readonly revokedAt: number | undefined }> {
  const head = verifyCheckpoint(current.source, keys);
  // The kept hashes may show that it shrank or forked.
  if (earlier.some(({ size }) => size > head.size)) await compareSeen(head, memory);
  try {
    for (const checkpoint of earlier) await requirePrefix(checkpoint, head, read);
    return { head, revokedAt: await findEntry(read, head, search.start, search.revokes) };
  } catch (fault) {
    if (!isWritError(fault, 'LEDGER_CORRUPT')) throw fault;
    // An append in between replaces partial tiles; a larger head then reads whole again.
    const next = await currentHead(read, head.origin);
    if (attempts > 1 && next !== undefined && next.size > head.size) {
      return requirePrefixes(earlier, next, read, keys, memory, search, attempts - 1);
    }
    throw refuted('malformed', { found: fault.message });
  }
}

async function requirePrefix(earlier: Checkpoint, head: Checkpoint, read: LedgerFileReader): Promise<void> {
  if (head.size < earlier.size) {
    throw refuted('stale', { origin: head.origin, seen: earlier.size, found: head.size });
  }
  if (await isPrefix(earlier, head, readSubtrees(read, head.size))) return;
  throw forked(earlier, head);
}

interface FoundLedger {
  readonly head: Checkpoint;
  readonly read: LedgerFileReader;
  /** Heads of the same log that `head` has to continue. */
  readonly older: readonly Checkpoint[];
}

/**
 * The ledger beside the repository, or the copy in git if it is newer: a restored state directory may be older than the
 * refs. A copy counts only if the log's key signed it and its tiles are whole, so that a pushed ref cannot make
 * verification fail.
 */
async function newestLedger(
  { readLedger, readMirror }: Pick<EvidenceSource, 'readLedger' | 'readMirror'>,
  origin: string,
  keys: readonly LedgerKey[],
): Promise<FoundLedger | undefined> {
  const beside = await currentHead(readLedger, origin);
  const copy = await currentHead(readMirror, origin);
  const local = beside && readLedger && { head: beside, read: readLedger, older: [] };
  if (copy === undefined || readMirror === undefined) return local;
  if (local === undefined) return { head: copy, read: readMirror, older: [] };
  if (copy.size <= local.head.size) return local;
  try {
    const head = verifyCheckpoint(copy.source, keys);
    await readHistory(readMirror, head);
    return { head, read: readMirror, older: [verifyCheckpoint(local.head.source, keys)] };
  } catch (fault) {
    if (isWritError(fault, 'LEDGER_CORRUPT') || isWritError(fault, 'VERIFY_REFUTED')) return local;
    throw fault;
  }
}

/** The checkpoint of a ledger if its origin is this log. Another log's ledger is ignored. */
async function currentHead(
  read: LedgerFileReader | undefined,
  origin: string,
): Promise<Checkpoint | undefined> {
  const head = checkpointIn(await read?.('checkpoint'));
  return head?.origin === origin ? head : undefined;
}
