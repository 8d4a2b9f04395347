/* The internal ledger: appends entries to a tiled log in a directory. */
import { createPublicKey } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { messageOf, WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { LogProof, Signer, TransparencyLog } from '../../core/interfaces/sealing.ts';
import { parseCheckpoint, type SignedCheckpoint, signCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import { type FileWriter, takeLock, writeDurably } from './ledger-files.ts';
import { indexOfEntry, type LedgerReader, openLedgerReader, proveEntry, toProof } from './ledger-reader.ts';
import { emptyRoot, leafHash, rangeHash, type SubtreeReader, type TreeHead } from './merkle.ts';
import { type LedgerKey, ledgerKeyFor, parseNote } from './note.ts';
import {
  corrupt,
  formatEntry,
  isPrefix,
  type LedgerFileReader,
  parseEntries,
  partialDirectory,
  proveInclusion,
  readFrom,
  readSubtrees,
  readTile,
  rootOf,
  tilePath,
  tileWidth,
  widthAt,
} from './tiles.ts';
import { mergeCosignatures } from './witness-policy.ts';

export interface InternalLedgerOptions {
  /** Made on first use; everything below it is the ledger's. */
  readonly directory: string;
  /** The Ed25519 key that signs checkpoints, fetched when first needed. */
  readonly signer: () => Promise<Signer>;
  readonly memory: CheckpointMemory;
  readonly clock: Clock;
  /** How long to wait for another writer; default 15,000. */
  readonly lockWaitMs?: number;
  /** The caller holds the lock (`takeLock`) as long as it uses the ledger, and calls one method at a time. */
  readonly isLocked?: boolean;
  /** Name of a ledger that is made; default `writ-ledger/` and 16 random octets. */
  readonly origin?: string;
  /** How files are put in place; default durably. */
  readonly write?: FileWriter;
  /** Called under the lock before an append reads the head; it may bring the files up to date. */
  readonly beforeAppend?: () => Promise<void>;
  /** Called under the lock after each append. If it fails, the append reports the failure, but its entries stay. */
  readonly afterAppend?: (head: SignedCheckpoint) => Promise<void>;
}

/** Where a batch went: entries `start` to `head.size`, all covered by the checkpoint of `head`. */
export interface AppendedBatch {
  readonly start: number;
  readonly head: SignedCheckpoint;
}

/** The internal ledger: RFC 6962 tree in C2SP tlog-tiles files, one writer at a time, any number of readers. */
export interface InternalLedger extends Omit<TransparencyLog, 'consistency'>, LedgerReader {
  /** Refuses what an append now would be refused for; makes the ledger where there is none. */
  requireAppendable(): Promise<void>;
  /** The log's name and key, making the ledger where there is none. */
  vkey(): Promise<string>;
  /**
   * Appends many entries under one lock and one checkpoint, all of them or none; resolves when they are durable.
   * LOG_FAILED for none, or where one is too long. Proofs come from `prove`.
   */
  appendAll(bodies: readonly Uint8Array[]): Promise<AppendedBatch>;
  /**
   * Replaces the current checkpoint with a cosigned one. Cosignatures of `witnesses` are verified, others are
   * dropped. Throws LOG_FAILED if it is no longer the current checkpoint. Throws VERIFY_REFUTED for a wrong
   * signature, or if no listed witness signed.
   */
  cosign(source: string, witnesses: readonly LedgerKey[]): Promise<SignedCheckpoint>;
  /**
   * Signs the current head with another key, which signs all later ones. Of the key before, only its public half is
   * used. Refuses what an append would be refused for.
   */
  handOver(next: Signer): Promise<SignedCheckpoint>;
}

/**
 * Reads and writes nothing before the first call. A ledger of another key is LEDGER_FOREIGN, a damaged one
 * LEDGER_CORRUPT.
 */
export function createInternalLedger(options: InternalLedgerOptions): InternalLedger {
  const { directory, memory, clock } = options;
  const temporary = join(directory, 'tmp');
  const read = readFrom(directory);
  const reader = openLedgerReader(read, verifyOwn);

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = options.isLocked ? undefined : await takeLock(directory, clock, options.lockWaitMs);
    try {
      // What a killed writer left half written.
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary, { recursive: true });
      return await work();
    } finally {
      await lock?.release();
    }
  }

  async function verifyOwn(source: string): Promise<SignedCheckpoint> {
    const key = await keyOf(source);
    try {
      return verifyCheckpoint(source, [key]);
    } catch (fault) {
      if (fault instanceof WritError && fault.detail.reason === 'untrusted-log') {
        throw new WritError('LEDGER_FOREIGN', { detail: { directory, origin: key.name }, cause: fault });
      }
      throw corrupt('its signature is wrong', 'checkpoint', fault);
    }
  }

  async function keyOf(source: string): Promise<LedgerKey> {
    const { publicKeyPem } = await options.signer();
    try {
      const { origin } = parseCheckpoint(source);
      if (parseNote(source).signatures.some((line) => line.name === origin)) {
        return ledgerKeyFor(origin, createPublicKey(publicKeyPem));
      }
      throw corrupt('no signature bears the name of the log', 'checkpoint');
    } catch (fault) {
      if (fault instanceof WritError && fault.code === 'ATTESTATION_MALFORMED') {
        throw corrupt('it cannot be read', 'checkpoint', fault);
      }
      throw fault;
    }
  }

  async function create(): Promise<SignedCheckpoint> {
    const left = await readdir(join(directory, 'tile')).catch(() => []);
    if (left.length > 0) throw corrupt('tiles without a checkpoint', 'checkpoint');
    const signer = await options.signer();
    const { origin = `writ-ledger/${randomOctets(16).toString('hex')}` } = options;
    const key = ledgerKeyFor(origin, createPublicKey(signer.publicKeyPem));
    return publish(await signCheckpoint({ size: 0, root: emptyRoot }, signer, key));
  }

  async function write(files: ReadonlyMap<string, Uint8Array | string>): Promise<void> {
    try {
      await (options.write ?? writeDurably)(directory, files, temporary);
    } catch (cause) {
      throw new WritError('LOG_FAILED', {
        message: `the internal ledger cannot be written: ${messageOf(cause)}`,
        detail: { directory, reason: (cause as NodeJS.ErrnoException).code ?? 'unknown' },
        cause,
      });
    }
  }

  async function publish(checkpoint: SignedCheckpoint): Promise<SignedCheckpoint> {
    await write(new Map([['checkpoint', checkpoint.source]]));
    return checkpoint;
  }

  /** The user's memory outlives a ledger that was put back from a backup: appending to it would fork the log. */
  async function refuseRollback(current: SignedCheckpoint): Promise<void> {
    const seen = await memory.latest(current);
    if (seen === undefined) return;
    if (seen.size > current.size || (seen.size === current.size && !seen.root.equals(current.root)))
      throw corrupt(`it was seen with ${seen.size} entries and has ${current.size} now`, 'checkpoint');
    if (seen.size === current.size || (await isPrefix(seen, current, readSubtrees(read, current.size))))
      return;
    throw corrupt(
      `its ${current.size} entries do not begin with the ${seen.size} that were seen`,
      'checkpoint',
    );
  }

  async function openForAppend(): Promise<SignedCheckpoint> {
    await options.beforeAppend?.();
    const before = (await reader.head()) ?? (await create());
    await refuseRollback(before);
    return before;
  }

  /** Writes the tiles first, in any order, then the checkpoint that needs them, then removes the files they replace. */
  async function appendTo(
    before: SignedCheckpoint,
    bodies: readonly Uint8Array[],
  ): Promise<{ readonly after: SignedCheckpoint; readonly growth: TreeGrowth }> {
    const growth = await growTree(before, bodies, read);
    await write(growth.files);
    const signer = await options.signer();
    const key = ledgerKeyFor(before.origin, createPublicKey(signer.publicKeyPem));
    const after = await publish(await signCheckpoint(growth.head, signer, key));
    await memory.remember(after);
    for (const path of growth.superseded) await rm(join(directory, path), { recursive: true, force: true });
    await options.afterAppend?.(after);
    return { after, growth };
  }

  async function appendOne(body: Uint8Array, behind: number): Promise<LogProof> {
    const before = await openForAppend();
    const already = await indexOfEntry(body, before.size, behind, read);
    if (already !== undefined) return proveEntry(already, before, read);
    const { after, growth } = await appendTo(before, [body]);
    return toProof(after, before.size, await proveInclusion(before.size, growth.head, growth.subtree), body);
  }

  return {
    mode: 'internal-ledger',
    ...reader,
    vkey: async () => {
      const current = (await reader.head()) ?? (await locked(openForAppend));
      return (await keyOf(current.source)).vkey;
    },
    requireAppendable: async () => void (await locked(openForAppend)),
    append: (body, { behind = Number.POSITIVE_INFINITY } = {}) => locked(() => appendOne(body, behind)),
    appendAll: async (bodies) => {
      if (bodies.length === 0) throw new WritError('LOG_FAILED', { message: 'a batch holds no entry' });
      return locked(async () => {
        const before = await openForAppend();
        const { after } = await appendTo(before, bodies);
        return { start: before.size, head: after };
      });
    },
    size: async () => (await reader.head())?.size ?? 0,
    cosign: (source, witnesses) =>
      locked(async () => {
        const current = await reader.head();
        if (current === undefined) throw new WritError('LEDGER_MISSING');
        await verifyOwn(source);
        return publish(mergeCosignatures(current, source, witnesses));
      }),
    handOver: (next) =>
      locked(async () => {
        const current = await reader.head();
        if (current === undefined) throw new WritError('LEDGER_MISSING', { detail: { directory } });
        await refuseRollback(current);
        const key = ledgerKeyFor(current.origin, createPublicKey(next.publicKeyPem));
        const after = await publish(await signCheckpoint(current, next, key));
        await memory.remember(after);
        await options.afterAppend?.(after);
        return after;
      }),
  };
}

/** What more entries change on disk. */
export interface TreeGrowth {
  readonly head: TreeHead;
  /** Subtrees of the new tree, before anything is written. */
  readonly subtree: SubtreeReader;
  /** New tiles and entry bundles, to be written before the checkpoint. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Narrower versions of those, to be removed after it: every one is a prefix of what replaced it. */
  readonly superseded: readonly string[];
}

/**
 * Computes the tree with `bodies` appended, whose leaf hashes are `leaves`. Reads O(log n) tiles and the last entry
 * bundle. The old right edge must lead to the old root, and the last bundle's entries to their hashes. Otherwise throws
 * LEDGER_CORRUPT, and the caller must not write.
 */
export async function growTree(
  before: TreeHead,
  bodies: readonly Uint8Array[],
  read: LedgerFileReader,
  leaves: readonly Buffer[] = bodies.map(leafHash),
): Promise<TreeGrowth> {
  const { size } = before;
  const after = size + bodies.length;
  const entries = bodies.map(formatEntry);
  const root = await rangeHash({ start: 0, end: size }, readSubtrees(read, size));
  if (!root.equals(before.root)) throw corrupt('tiles and checkpoint disagree', 'checkpoint');

  const files = new Map<string, Buffer>();
  const superseded: string[] = [];
  function supersede(level: number | 'entries', oldCount: number, newCount: number): void {
    const index = Math.floor(oldCount / tileWidth);
    const width = oldCount % tileWidth;
    if (newCount >= (index + 1) * tileWidth) superseded.push(partialDirectory(level, index));
    else if (width > 0) superseded.push(tilePath(level, index, width));
  }

  let bundle: Buffer[] = [await lastEntries(size, read)];
  for (const [at, entry] of entries.entries()) {
    bundle.push(entry);
    const count = size + at + 1;
    if (count % tileWidth !== 0 && count !== after) continue;
    files.set(
      tilePath('entries', Math.floor((count - 1) / tileWidth), widthOf(count)),
      Buffer.concat(bundle),
    );
    bundle = [];
  }
  supersede('entries', size, after);

  let hashes = leaves;
  let oldCount = size;
  for (let level = 0; hashes.length > 0; level += 1) {
    const first = Math.floor(oldCount / tileWidth);
    const width = oldCount % tileWidth;
    const newCount = oldCount + hashes.length;
    const old = width === 0 ? [] : [await readTile(read, tilePath(level, first, width), width)];
    const edge = Buffer.concat([...old, ...hashes]);
    const filled: Buffer[] = [];
    for (let at = 0; at * 32 < edge.length; at += tileWidth) {
      const tile = edge.subarray(at * 32, (at + tileWidth) * 32);
      files.set(tilePath(level, first + at / tileWidth, tile.length / 32), tile);
      if (tile.length === tileWidth * 32) filled.push(rootOf(tile));
    }
    supersede(level, oldCount, newCount);
    hashes = filled;
    oldCount = first;
  }

  const subtree = readSubtrees(async (path) => files.get(path) ?? read(path), after);
  const head = { size: after, root: await rangeHash({ start: 0, end: after }, subtree) };
  return { head, subtree, files, superseded };
}

/** Width of the tile that holds the last of `count` hashes or entries. */
function widthOf(count: number): number {
  return count % tileWidth === 0 ? tileWidth : count % tileWidth;
}

async function lastEntries(size: number, read: LedgerFileReader): Promise<Buffer> {
  const width = size % tileWidth;
  if (width === 0) return Buffer.alloc(0);
  const index = Math.floor(size / tileWidth);
  const path = tilePath('entries', index, width);
  const bundle = Buffer.from((await read(path)) ?? []);
  const tile = await readTile(read, tilePath(0, index, widthAt(0, index, size)), width);
  const entries = parseEntries(bundle);
  const whole =
    entries?.length === width &&
    entries.every((entry, at) => leafHash(entry).equals(tile.subarray(at * 32, at * 32 + 32)));
  if (!whole) throw corrupt('entries do not have their hashes', path);
  return bundle;
}
