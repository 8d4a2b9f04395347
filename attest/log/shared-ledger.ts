/* A ledger that many repositories append to: batches appends, and publishes only what is durable and cosigned. */
import { createPublicKey } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalize } from '../../core/base/canonical.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, messageOf, WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import type { LogProof, Signer } from '../../core/interfaces/sealing.ts';
import {
  expectArray,
  expectObject,
  expectText,
  malformedAt,
  parseJsonObject,
} from '../encoding/expect-json.ts';
import { parseCheckpoint, type SignedCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import { createInternalLedger, type InternalLedger } from './internal-ledger.ts';
import { type FileWriter, takeLock, writeDurably } from './ledger-files.ts';
import { indexOfEntry, toProof } from './ledger-reader.ts';
import { entryKind, parseLogEntry } from './log-entry.ts';
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

/** Most entries under one checkpoint; the record of their repositories must fit into one entry. */
const maxBatch = 1000;
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

interface Waiting {
  readonly body: Uint8Array;
  readonly repository: string;
  readonly settled: PromiseWithResolvers<LogProof>;
}

/**
 * Opens the shared ledger in a directory, and makes one where there is none. LEDGER_BUSY if another process has it,
 * LEDGER_FOREIGN for another key, LEDGER_CORRUPT for a damaged or shortened one.
 *
 * The order of a batch is: tiles, signature, `pending`, witnesses, checkpoint, answers; each step is durable before
 * the next. A signed head leaves the process only when `pending` holds it, and a ledger with a `pending` publishes that
 * head before it signs another one. So no two heads that contradict each other are signed, wherever it is killed.
 */
export async function openSharedLedger(options: SharedLedgerOptions): Promise<SharedLedger> {
  const { directory, signer, clock, memory } = options;
  const log = join(directory, sharedLogPath);
  await mkdir(directory, { recursive: true });
  const lock = await takeLock(log, clock, options.lockWaitMs);
  let cosign: Cosign | undefined;
  try {
    const ledger = createInternalLedger({
      directory: log,
      signer: async () => signer,
      memory,
      clock,
      isLocked: true,
      keepsPartials: true,
      ...(options.origin && { origin: options.origin }),
      ...(options.write && { write: options.write }),
      ...(options.witnesses && { beforePublish: (head) => askWitnesses(head, options, cosign) }),
    });
    await ledger.requireAppendable();
    const published = await ledger.head();
    if (published === undefined) throw corrupt('it has no checkpoint', 'checkpoint');
    cosign = options.witnesses?.(ledgerKeyFor(published.origin, createPublicKey(signer.publicKeyPem)));
    const sequencer = createSequencer(ledger, published, { ...options, cosign });
    await sequencer.index();
    return {
      vkey: await ledger.vkey(),
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

/** Writes down what the witnesses are about to see, then has it cosigned. */
async function askWitnesses(
  head: SignedCheckpoint,
  { directory, write = writeDurably }: SharedLedgerOptions,
  cosign: Cosign | undefined,
): Promise<SignedCheckpoint> {
  const log = join(directory, sharedLogPath);
  await write(directory, new Map([[pendingPath, head.source]]), join(log, 'tmp'));
  return (await cosign?.(head, readFrom(log))) ?? head;
}

function createSequencer(
  ledger: InternalLedger,
  published: SignedCheckpoint,
  options: SharedLedgerOptions & { readonly cosign: Cosign | undefined },
) {
  const { directory, signer, memory, cosign, write = writeDurably } = options;
  const log = join(directory, sharedLogPath);
  const read = readFrom(log);
  let head = published;
  let isConfirmed = cosign === undefined;
  let isClosed = false;
  let running: Promise<void> | undefined;
  /** By leaf hash: number of each published entry, from `start` on, which is a multiple of 256. */
  const known = new Map<string, number>();
  let start = 0;
  let indexed = 0;
  const waiting = new Map<string, Waiting>();

  /** Brings the index up to the published head. */
  async function index(): Promise<void> {
    const from = Math.max(start, Math.floor((head.size - windowSize) / tileWidth) * tileWidth);
    for (const [leaf, number] of known) {
      if (number >= from) break;
      known.delete(leaf);
    }
    start = from;
    indexed = Math.max(indexed, from);
    while (indexed < head.size) {
      const tile = Math.floor(indexed / tileWidth);
      const width = widthAt(0, tile, head.size);
      const hashes = await readTile(read, tilePath(0, tile, width), width);
      for (; indexed < tile * tileWidth + width; indexed += 1) {
        const at = (indexed % tileWidth) * 32;
        known.set(hashes.toString('latin1', at, at + 32), indexed);
      }
    }
  }

  async function refresh(): Promise<void> {
    head = (await ledger.head()) ?? head;
    await index();
  }

  /** Publishes the head that an earlier batch, or process, had signed and could not publish. */
  async function settlePending(): Promise<void> {
    const { bytes, fault } = readPlain(join(directory, pendingPath), 256 * 1024);
    if (fault !== undefined && fault.code !== 'ENOENT') throw corrupt(fault.message, pendingPath, fault);
    const source = bytes?.toString('utf8');
    const size = source === undefined ? 0 : parseCheckpoint(source).size;
    if (source === undefined || size <= head.size) {
      if (isConfirmed) return;
      // Witnesses may have seen more than this directory holds, e.g. after it was put back from a backup.
      await cosign?.(head, read);
      isConfirmed = true;
      return;
    }
    const key = ledgerKeyFor(head.origin, createPublicKey(signer.publicKeyPem));
    const pending = verifyCheckpoint(source, [key]);
    const root = await rangeHash({ start: 0, end: size }, readSubtrees(read, size));
    if (!root.equals(pending.root) || !(await isPartOf(head, { head: pending, read })))
      throw corrupt('the tiles do not lead to the head that was signed', pendingPath);
    const after = (await cosign?.(pending, read)) ?? pending;
    isConfirmed = true;
    await write(log, new Map([['checkpoint', after.source]]), join(log, 'tmp'));
    await memory.remember(after);
    await refresh();
  }

  /** Answers what waits for entries that the log has now. */
  async function answerKnown(): Promise<void> {
    const prove = proofsIn(head, read);
    for (const [leaf, one] of waiting) {
      const number = known.get(leaf);
      if (number === undefined) continue;
      waiting.delete(leaf);
      one.settled.resolve(await prove(number, one.body));
    }
  }

  async function appendBatch(): Promise<void> {
    const batch = [...waiting.values()]
      .slice(0, maxBatch)
      .sort((a, b) => (a.repository < b.repository ? -1 : Number(a.repository > b.repository)));
    const record = buildBatchRecord(
      head.size,
      batch.map(({ repository }) => repository),
    );
    const appended = await ledger.appendAll([...batch.map(({ body }) => body), record]);
    head = appended.head;
    await index();
    await rm(join(directory, pendingPath), { force: true });
  }

  async function run(): Promise<void> {
    try {
      await settlePending();
      await answerKnown();
      while (waiting.size > 0 && !isClosed) {
        await appendBatch();
        await answerKnown();
      }
    } catch (thrown) {
      const fault = toFault(thrown);
      // A batch can be published and fail behind that.
      await refresh().catch(() => undefined);
      await answerKnown().catch(() => undefined);
      refuseWaiting(fault);
    }
  }

  function refuseWaiting(fault: WritError): void {
    for (const { settled } of waiting.values()) settled.reject(fault);
    waiting.clear();
  }

  function collect(): void {
    running ??= (async () => {
      // Everything that is received in this turn of the event loop goes into one batch.
      await new Promise(setImmediate);
      try {
        await run();
      } finally {
        running = undefined;
      }
      if (waiting.size > 0 && !isClosed) collect();
    })();
  }

  return {
    head: () => head,
    index,
    async add(body: Uint8Array, repository: string, behind = start): Promise<LogProof> {
      requireEntry(body);
      const leaf = leafHash(body).toString('latin1');
      const old = behind < start ? await indexOfEntry(body, start, behind, read) : undefined;
      const number = known.get(leaf) ?? old;
      if (number !== undefined) return proofsIn(head, read)(number, body);
      const already = waiting.get(leaf);
      if (already !== undefined) return already.settled.promise;
      if (isClosed || waiting.size >= maxWaiting)
        throw new WritError('LEDGER_UNAVAILABLE', {
          message: isClosed ? 'the ledger is shutting down' : `${waiting.size} entries wait for a checkpoint`,
        });
      const settled = Promise.withResolvers<LogProof>();
      waiting.set(leaf, { body, repository, settled });
      collect();
      return settled.promise;
    },
    async close() {
      isClosed = true;
      await running;
      refuseWaiting(new WritError('LEDGER_UNAVAILABLE', { message: 'the ledger is shutting down' }));
    },
  };
}

/** Makes proofs against one head. The nodes that they share are computed once. */
function proofsIn(head: SignedCheckpoint, read: LedgerFileReader) {
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

/** Refuses everything but an entry of Rekor v2, above all a batch record. ATTESTATION_MALFORMED. */
function requireEntry(body: Uint8Array): void {
  const { kind, apiVersion } = parseLogEntry(body);
  if (kind !== entryKind.kind || apiVersion !== entryKind.version)
    throw malformedAt('/kind', `\`${entryKind.kind}\` ${entryKind.version}`);
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
