/* A ledger that many repositories append to: batches appends, and publishes only what is durable and cosigned. */
import { createPublicKey } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalize } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { readPlain, syncPath } from '../../core/base/files.ts';
import type { LogProof, Signer } from '../../core/interfaces/sealing.ts';
import {
  expectArray,
  expectObject,
  expectText,
  malformedAt,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { parseCheckpoint, type SignedCheckpoint, signCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import { createInternalLedger, growTree, type InternalLedger, type TreeGrowth } from './internal-ledger.ts';
import { type FileWriter, placeDurably, takeLock, writeDurably, writeInPlace } from './ledger-files.ts';
import { indexOfEntry, toProof } from './ledger-reader.ts';
import { entryKind } from './log-entry.ts';
import { inclusionRanges, leafHash, nodeHash, rangeHash, type SubtreeReader } from './merkle.ts';
import { type LedgerKey, ledgerKeyFor } from './note.ts';
import {
  corrupt,
  isPartOf,
  type LedgerFileReader,
  readFrom,
  readSubtrees,
  readTile,
  tilePath,
  tileWidth,
  widthAt,
} from './tiles.ts';

/** Below the server's directory: the log, which any static file server can publish. */
export const sharedLogPath = 'log';
/** Beside it: the head that was signed, and may have been shown to witnesses, but is not published yet. */
const pendingPath = 'pending';

/** Most entries of a batch; the record of their repositories must fit into one entry. */
const maxBatch = 500;
/** Batches that are on their way to a published checkpoint, at most: one is hashed while others are flushed. */
const maxUnpublished = 4;
const maxNoteBytes = 256 * 1024;
/** Entries that wait for a checkpoint, at most. */
const maxWaiting = 10_000;
/** Entries that are found without reading tiles: the newest, about 100 bytes each. */
const windowSize = 2 ** 20;

type Cosign = (head: SignedCheckpoint, read: LedgerFileReader) => Promise<SignedCheckpoint>;

export interface SharedLedgerOptions {
  /** Holds `log/` (checkpoint and tiles) and `pending`. */
  readonly directory: string;
  readonly signer: Signer;
  readonly memory: CheckpointMemory;
  readonly clock: Clock;
  /** Name of a log that is made. */
  readonly origin?: string;
  /**
   * For the log of that key: adds the cosignatures that a checkpoint is published with. Throws if there are too few, or
   * if a witness has seen entries that this log lacks. Absent: the log's own signature suffices.
   */
  readonly witnesses?: (log: LedgerKey) => Cosign;
  /** How files are put in place; default durably. */
  readonly write?: FileWriter;
  /** How long to wait for another server of this directory to end; default 15,000. */
  readonly lockWaitMs?: number;
}

/** The one writer of a shared ledger. */
export interface SharedLedger {
  readonly vkey: string;
  readonly read: LedgerFileReader;
  /** The published head. */
  head(): SignedCheckpoint;
  /**
   * Appends an entry of a repository. Resolves when a published checkpoint covers it. An entry that the log contains,
   * or is about to contain, is not appended again: of those older than the newest million, only the ones from index
   * `behind` on are found.
   */
  add(body: Uint8Array, repository: string, behind?: number): Promise<LogProof>;
  /** Waits for the batch under way, refuses what waits, and releases the lock. */
  close(): Promise<void>;
}

/**
 * Opens the shared ledger in a directory, and makes one where there is none. LEDGER_BUSY if another process has it,
 * LEDGER_FOREIGN for another key, LEDGER_CORRUPT for a damaged or shortened one.
 *
 * The order of a batch is: tiles, `pending`, witnesses, checkpoint, answers; each step is durable before the next. A
 * signed head leaves the process only when `pending` holds it, and a ledger with a `pending` publishes that
 * head before it signs another one. So no two heads that contradict each other are signed, wherever it is killed.
 */
export async function openSharedLedger(options: SharedLedgerOptions): Promise<SharedLedger> {
  const { directory, signer, clock, memory } = options;
  const log = join(directory, sharedLogPath);
  await mkdir(directory, { recursive: true });
  const lock = await takeLock(log, clock, options.lockWaitMs);
  try {
    const ledger = createInternalLedger({
      directory: log,
      signer: async () => signer,
      memory,
      clock,
      isLocked: true,
      ...(options.origin && { origin: options.origin }),
      ...(options.write && { write: options.write }),
    });
    await ledger.requireAppendable();
    const published = await ledger.head();
    if (published === undefined) throw corrupt('it has no checkpoint', 'checkpoint');
    const key = ledgerKeyFor(published.origin, createPublicKey(signer.publicKeyPem));
    const sequencer = createSequencer(ledger, published, key, options);
    await sequencer.index();
    return {
      vkey: key.vkey,
      read: readFrom(log),
      head: sequencer.head,
      add: sequencer.add,
      close: async () => {
        await sequencer.close();
        await lock.release();
      },
    };
  } catch (fault) {
    await lock.release();
    throw fault;
  }
}

interface Waiting {
  readonly body: Uint8Array;
  readonly hash: Buffer;
  readonly repository: string;
  readonly settled: PromiseWithResolvers<LogProof>;
}

/** A batch whose entries have their numbers, and are in no published tree yet. */
interface Batch {
  /** Number of its first entry. */
  readonly first: number;
  /** By leaf hash, in the order of the entries; the record of the batch comes last. */
  readonly leaves: readonly string[];
  readonly growth: TreeGrowth;
  readonly signed: SignedCheckpoint;
  /** Settles when its tiles are durable, or cannot be. */
  readonly stored: Promise<{ readonly fault?: unknown }>;
}

function createSequencer(
  ledger: InternalLedger,
  published: SignedCheckpoint,
  key: LedgerKey,
  options: SharedLedgerOptions,
) {
  const { directory, signer, write = writeDurably } = options;
  const memory = rememberLater(options.memory);
  const cosign = options.witnesses?.(key);
  const log = join(directory, sharedLogPath);
  const stored = readFrom(log);
  let head = published;
  let isConfirmed = cosign === undefined;
  let isClosed = false;
  /** A write has failed: what is in memory may be older than the files. */
  let isStale = false;
  let wake = Promise.withResolvers<void>();
  let running: Promise<void> | undefined;
  /** By leaf hash: number of each published entry, from `start` on, which is a multiple of 256. */
  const known = new Map<string, number>();
  let start = 0;
  let indexed = 0;
  /** By leaf hash: entries that no batch has yet, and those that an unpublished batch has. */
  const queue = new Map<string, Waiting>();
  const sequenced = new Map<string, Waiting>();
  /** In order; the last published batch comes first, as long as its tiles are the right edge of the tree. */
  let recent: readonly Batch[] = [];
  const unpublished = (): readonly Batch[] => recent.filter(({ first }) => first >= head.size);

  /** Reads the tree with its unpublished batches. */
  const read: LedgerFileReader = async (path) =>
    recent.findLast(({ growth }) => growth.files.has(path))?.growth.files.get(path) ?? stored(path);

  /** Brings the index up to the published head, out of the tiles. */
  async function index(): Promise<void> {
    start = Math.max(start, Math.floor((head.size - windowSize) / tileWidth) * tileWidth);
    indexed = Math.max(indexed, start);
    while (indexed < head.size) {
      const tile = Math.floor(indexed / tileWidth);
      const width = widthAt(0, tile, head.size);
      const hashes = await readTile(stored, tilePath(0, tile, width), width);
      for (; indexed < tile * tileWidth + width; indexed += 1) {
        const at = (indexed % tileWidth) * 32;
        known.set(hashes.toString('latin1', at, at + 32), indexed);
      }
    }
    forgetOld();
  }

  function forgetOld(): void {
    start = Math.max(start, Math.floor((head.size - windowSize) / tileWidth) * tileWidth);
    for (const [leaf, number] of known) {
      if (number >= start) break;
      known.delete(leaf);
    }
  }

  /** Makes a checkpoint public whose tiles are durable. Once witnesses may have seen it, no other may replace it. */
  async function publish(signed: SignedCheckpoint, isPending = false): Promise<void> {
    let after = signed;
    if (cosign === undefined && !isPending) await placeDurably(log, draftOf(signed), 'checkpoint');
    else {
      if (!isPending) await write(directory, new Map([[pendingPath, signed.source]]), join(log, 'tmp'));
      after = (await cosign?.(signed, read)) ?? signed;
      isConfirmed = true;
      await write(log, new Map([['checkpoint', after.source]]), join(log, 'tmp'));
    }
    head = after;
    await memory.remember(after);
    if (cosign !== undefined || isPending) await rm(join(directory, pendingPath), { force: true });
  }

  /** Publishes the head that an earlier batch, or process, had signed and could not publish. */
  async function settlePending(): Promise<void> {
    const { bytes, fault } = readPlain(join(directory, pendingPath), maxNoteBytes);
    if (fault !== undefined && fault.code !== 'ENOENT') throw corrupt(fault.message, pendingPath, fault);
    const source = bytes?.toString('utf8');
    const size = source === undefined ? 0 : parseCheckpoint(source).size;
    if (source === undefined || size <= head.size) {
      // Witnesses may have seen more than this directory holds, e.g. after it was put back from a backup.
      if (!isConfirmed) await cosign?.(head, stored);
      isConfirmed = true;
      return;
    }
    const pending = verifyCheckpoint(source, [key]);
    const root = await rangeHash({ start: 0, end: size }, readSubtrees(stored, size));
    if (!root.equals(pending.root) || !(await isPartOf(head, { head: pending, read: stored })))
      throw corrupt('the tiles do not lead to the head that was signed', pendingPath);
    await publish(pending, true);
    await index();
  }

  /** Answers what waits for entries that the log has now. */
  async function answerKnown(waiting: Map<string, Waiting>, leaves: Iterable<string>): Promise<void> {
    const prove = proofsIn(head, read);
    for (const leaf of leaves) {
      const [number, one] = [known.get(leaf), waiting.get(leaf)];
      if (number === undefined || one === undefined) continue;
      waiting.delete(leaf);
      one.settled.resolve(await prove(number, one.body));
    }
  }

  /** Gives the next entries their numbers, and begins to store them. */
  async function sequenceBatch(): Promise<void> {
    // Everything that is received in this turn of the event loop goes into one batch.
    await new Promise(setImmediate);
    const tip = recent.at(-1)?.growth.head ?? head;
    const batch = [...queue]
      .slice(0, maxBatch)
      .sort(([, a], [, b]) => (a.repository < b.repository ? -1 : Number(a.repository > b.repository)));
    for (const [leaf, one] of batch) {
      queue.delete(leaf);
      sequenced.set(leaf, one);
    }
    const names = batch.map(([, { repository }]) => repository);
    const record = buildBatchRecord(tip.size, names);
    const hash = leafHash(record);
    const bodies = [...batch.map(([, one]) => one.body), record];
    const growth = await growTree(tip, bodies, read, [...batch.map(([, one]) => one.hash), hash]);
    const leaves = [...batch.map(([leaf]) => leaf), hash.toString('latin1')];
    const signed = await signCheckpoint(growth.head, signer, key);
    // Without witnesses, the checkpoint is flushed together with the tiles that it needs.
    const draft = cosign === undefined ? [[draftOf(signed), Buffer.from(signed.source)] as const] : [];
    const files = new Map([...growth.files, ...draft]);
    const written = (options.write ?? writeInPlace)(log, files, join(log, 'tmp')).then(
      () => ({}),
      (fault: unknown) => ({ fault }),
    );
    recent = [...recent, { first: tip.size, leaves, growth, signed, stored: written }];
  }

  /** Publishes the newest of the batches that are stored, the oldest of which is waited for, and answers them all. */
  async function publishBatches(): Promise<void> {
    const [oldest, ...more] = unpublished();
    if (oldest === undefined) return;
    const { fault } = await oldest.stored;
    if (fault !== undefined) throw fault;
    const ready = [oldest];
    for (const batch of more) {
      const outcome = await Promise.race([batch.stored, undefined]);
      if (outcome === undefined || outcome.fault !== undefined) break;
      ready.push(batch);
    }
    const last = ready.at(-1) ?? oldest;
    await publish(last.signed);
    for (const { first, leaves } of ready)
      for (const [at, leaf] of leaves.entries()) known.set(leaf, first + at);
    indexed = head.size;
    forgetOld();
    recent = recent.filter(({ first }) => first >= last.first);
    for (const { leaves } of ready) await answerKnown(sequenced, leaves);
    if (cosign === undefined)
      for (const { signed } of ready.slice(0, -1)) await rm(join(log, draftOf(signed)), { force: true });
    // Narrower tiles stay until the full one is there, for readers without a program behind the files.
    for (const path of ready.flatMap(({ growth }) => growth.superseded))
      if (path.endsWith('.p')) await rm(join(log, path), { recursive: true, force: true });
  }

  async function run(): Promise<void> {
    let publishing: Promise<void> | undefined;
    let failed: { readonly fault: unknown } | undefined;
    const publishAll = async (): Promise<void> => {
      try {
        for (; unpublished().length > 0; stir()) await publishBatches();
      } catch (fault) {
        failed ??= { fault };
      }
      publishing = undefined;
      stir();
    };
    try {
      if (isStale) await refresh();
      await settlePending();
      await answerKnown(queue, [...queue.keys()]);
      for (;;) {
        const change = wake.promise;
        const [open, mayAdd] = [unpublished().length, queue.size > 0 && !isClosed];
        if (failed !== undefined || (open === 0 && !mayAdd)) break;
        if (open > 0) publishing ??= publishAll();
        if (mayAdd && open < maxUnpublished) await sequenceBatch();
        else await change;
      }
    } catch (fault) {
      failed ??= { fault };
    }
    await publishing;
    if (failed !== undefined) await abandon(failed.fault);
  }

  /** Tells the loop that an entry has come, or a batch is published. */
  function stir(): void {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  }

  /** Takes over what is on disk, once it is durable. */
  async function refresh(): Promise<void> {
    // What was left half written would keep a full disk full.
    await rm(join(log, 'tmp'), { recursive: true, force: true });
    await mkdir(join(log, 'tmp'), { recursive: true });
    await syncPath(log);
    head = (await ledger.head()) ?? head;
    await index();
    isStale = false;
    await answerKnown(sequenced, [...sequenced.keys()]);
  }

  /** Forgets the batches that were not published: their entries are sent again. */
  async function abandon(thrown: unknown): Promise<void> {
    // What comes from now on has its own attempt.
    const waiting = [...queue.keys(), ...sequenced.keys()];
    await Promise.all(recent.map((batch) => batch.stored));
    recent = [];
    isStale = true;
    await refresh().catch(() => undefined);
    refuseWaiting(toFault(thrown), waiting);
  }

  function refuseWaiting(fault: WritError, leaves: Iterable<string>): void {
    for (const leaf of leaves)
      for (const waiting of [queue, sequenced]) {
        waiting.get(leaf)?.settled.reject(fault);
        waiting.delete(leaf);
      }
  }

  function collect(): void {
    running ??= (async () => {
      await run().finally(() => {
        running = undefined;
      });
      if (queue.size > 0 && !isClosed) collect();
    })();
  }

  return {
    head: () => head,
    index,
    async add(body: Uint8Array, repository: string, behind = start): Promise<LogProof> {
      requireEntry(body);
      const hash = leafHash(body);
      const leaf = hash.toString('latin1');
      const old = behind < start ? await indexOfEntry(body, start, behind, stored) : undefined;
      const number = known.get(leaf) ?? old;
      if (number !== undefined) return proofsIn(head, read)(number, body);
      const already = queue.get(leaf) ?? sequenced.get(leaf);
      if (already !== undefined) return already.settled.promise;
      if (isClosed || queue.size >= maxWaiting)
        throw new WritError('LEDGER_UNAVAILABLE', {
          message: isClosed ? 'the ledger is shutting down' : `${queue.size} entries wait for a checkpoint`,
        });
      const settled = Promise.withResolvers<LogProof>();
      queue.set(leaf, { body, hash, repository, settled });
      collect();
      stir();
      return settled.promise;
    },
    async close() {
      isClosed = true;
      await running;
      const fault = new WritError('LEDGER_UNAVAILABLE', { message: 'the ledger is shutting down' });
      refuseWaiting(fault, [...queue.keys()]);
      await memory.settle();
    },
  };
}

/**
 * A memory whose newest checkpoint is kept while the log goes on: it guards against a ledger that is put back from a
 * copy, and may be one checkpoint behind when the process is killed. A failure is thrown by the next call.
 */
function rememberLater(memory: CheckpointMemory) {
  let newest: SignedCheckpoint | undefined;
  let writing: Promise<void> | undefined;
  let failure: unknown;
  async function write(): Promise<void> {
    while (newest !== undefined) {
      const next = newest;
      newest = undefined;
      await memory.remember(next);
    }
  }
  return {
    async remember(checkpoint: SignedCheckpoint): Promise<void> {
      if (failure !== undefined) throw failure;
      newest = checkpoint;
      writing ??= write()
        .catch((fault: unknown) => {
          failure = fault;
        })
        .finally(() => {
          writing = undefined;
        });
    },
    async settle(): Promise<void> {
      await writing;
    },
  };
}

/** Where a checkpoint is that no other file has replaced yet. */
const draftOf = ({ size }: SignedCheckpoint): string => `tmp/checkpoint-${size}`;

/** Makes proofs against one head. The nodes that they share are computed once. */
export function proofsIn(head: SignedCheckpoint, read: LedgerFileReader) {
  const tiles = readSubtrees(read, head.size);
  const nodes = new Map<string, Promise<Buffer>>();
  const subtree: SubtreeReader = (height, index) =>
    once(`${height}/${index}`, async () => {
      if (height % 8 === 0) return tiles(height, index);
      return nodeHash(await subtree(height - 1, index * 2), await subtree(height - 1, index * 2 + 1));
    });
  function once(key: string, make: () => Promise<Buffer>): Promise<Buffer> {
    const made = nodes.get(key) ?? make();
    nodes.set(key, made);
    return made;
  }
  return async (number: number, body: Uint8Array): Promise<LogProof> => {
    const hashes = inclusionRanges(number, head.size).map((range) =>
      once(`${range.start}-${range.end}`, () => rangeHash(range, subtree)),
    );
    return toProof(head, number, await Promise.all(hashes), body);
  };
}

/** LEDGER_FULL for every fault of a full disk, else the fault itself. */
function toFault(thrown: unknown): WritError {
  const reason = isWritError(thrown) ? thrown.detail.reason : (thrown as NodeJS.ErrnoException).code;
  if (typeof reason === 'string' && ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(reason))
    return new WritError('LEDGER_FULL', { detail: { reason }, cause: thrown });
  if (isWritError(thrown)) return thrown;
  return new WritError('LEDGER_UNAVAILABLE', { message: messageOf(thrown), cause: thrown });
}

const base64 = '"[A-Za-z0-9+/]+={0,2}"';
const canonicalEntry = new RegExp(
  `^{"apiVersion":"${entryKind.version}","kind":"${entryKind.kind}","spec":{"hashedRekordV002":` +
    `{"data":{"algorithm":"SHA2_256","digest":${base64}},"signature":{"content":${base64},` +
    `"verifier":{"keyDetails":"[A-Z0-9_]{1,64}","(?:publicKey|x509Certificate)":{"rawBytes":${base64}}}}}}}$`,
);

/** Refuses everything but an entry of Rekor v2 in canonical form, above all a batch record. ATTESTATION_MALFORMED. */
function requireEntry(body: Uint8Array): void {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
  if (!canonicalEntry.test(text))
    throw malformedAt('/', `a \`${entryKind.kind}\` ${entryKind.version} in canonical form (RFC 8785)`);
}

/** The last entry of each batch: which repositories the entries before it came from, by the tokens that were used. */
export interface BatchRecord {
  /** Number of the first entry of the batch. */
  readonly first: number;
  /** Name and number of entries, in the order of the entries. */
  readonly repositories: readonly (readonly [name: string, entries: number])[];
}

const recordKind = { apiVersion: '0.0.1', kind: 'writ-batch' } as const;
const maxRecordBytes = 65_535;
const recordMark = `"kind":"${recordKind.kind}"`;

function buildBatchRecord(first: number, names: readonly string[]): Buffer {
  const repositories: [string, number][] = [];
  for (const name of names) {
    const last = repositories.at(-1);
    if (last?.[0] === name) last[1] += 1;
    else repositories.push([name, 1]);
  }
  return Buffer.from(canonicalize({ ...recordKind, spec: { first, repositories } }));
}

/** Reads a batch record; `undefined` for an entry of another kind. ATTESTATION_MALFORMED. */
export function parseBatchRecord(body: Uint8Array): BatchRecord | undefined {
  // Entries are in canonical form, and most are of another kind.
  if (!Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(recordMark)) return undefined;
  const record = expectObject(parseJsonObject(body, maxRecordBytes), '', ['apiVersion', 'kind', 'spec']);
  if (record.kind !== recordKind.kind) return undefined;
  expectText(record.apiVersion, '/apiVersion', /^0\.0\.1$/);
  const spec = expectObject(record.spec, '/spec', ['first', 'repositories']);
  const repositories = expectArray(spec.repositories, '/spec/repositories', maxBatch).map((item, at) => {
    const path = `/spec/repositories/${at}`;
    const [name, entries] = expectArray(item, path, 2);
    return [expectText(name, path, repositoryName), expectCount(entries, path)] as const;
  });
  return { first: expectCount(spec.first, '/spec/first'), repositories };
}

/** A repository as its token names it; 48 characters, so that a record of a full batch fits into an entry. */
export const repositoryName = /^[a-z0-9][a-z0-9._-]{0,47}$/;

function expectCount(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0) throw malformedAt(path, 'a whole number');
  return Number(value);
}
