import { createPublicKey } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import type { Signer } from '../../core/contract/signer.ts';
import type { LogProof, TransparencyLog } from '../../core/contract/transparency-log.ts';
import { type Checkpoint, parseCheckpoint, signCheckpoint, verifyCheckpoint } from './checkpoint.ts';
import type { CheckpointMemory } from './checkpoint-memory.ts';
import { writeDurably } from './durable-file.ts';
import { parseEntries } from './entry-bundle.ts';
import { growTree, type TreeGrowth } from './grow-tree.ts';
import { type LedgerKey, ledgerKeyFor } from './ledger-key.ts';
import { takeLock } from './ledger-lock.ts';
import { proveConsistency, proveInclusion } from './ledger-proofs.ts';
import { emptyRoot, leafHash } from './merkle/hash.ts';
import { parseNote } from './note.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees } from './tile-reader.ts';

export interface InternalLedgerOptions {
  /** Made on first use; everything below it is the ledger's. */
  readonly directory: string;
  /** The Ed25519 key that signs checkpoints, fetched when first needed. */
  readonly signer: () => Promise<Signer>;
  readonly memory: CheckpointMemory;
  readonly clock: Clock;
  /** How long to wait for another writer; default 15,000. */
  readonly lockWaitMs?: number;
}

/** The internal ledger: RFC 6962 tree in C2SP tlog-tiles files, one writer at a time, any number of readers. */
export interface InternalLedger extends TransparencyLog {
  /** The log's name and key, making the ledger where there is none. */
  vkey(): Promise<string>;
  /** The current tree head, signature checked; `undefined` where there is no ledger yet. */
  head(): Promise<Checkpoint | undefined>;
  /** Entry and proof against the current head. LOG_FAILED for an index outside the tree. */
  prove(index: number): Promise<LogProof>;
  /** RFC 6962 consistency proof from an earlier size to the current head. */
  consistency(from: number): Promise<{ readonly head: Checkpoint; readonly hashes: readonly Uint8Array[] }>;
  /** Proof for an entry of exactly these bytes, newest first; `undefined` where it was never logged. */
  find(body: Uint8Array): Promise<LogProof | undefined>;
}

/** Nothing is read or written before the first call. A ledger of another key is LEDGER_FOREIGN, a damaged one LEDGER_CORRUPT. */
export function createInternalLedger(options: InternalLedgerOptions): InternalLedger {
  const { directory, memory, clock } = options;
  const temporary = join(directory, 'tmp');
  const read = readFrom(directory);

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = await takeLock(join(directory, 'lock'), clock, options.lockWaitMs ?? 15_000);
    try {
      // What a killed writer left half written.
      await rm(temporary, { recursive: true, force: true });
      await mkdir(temporary, { recursive: true });
      return await work();
    } finally {
      await lock.release();
    }
  }

  async function head(): Promise<Checkpoint | undefined> {
    const bytes = await read('checkpoint');
    if (bytes === undefined) return undefined;
    const source = Buffer.from(bytes).toString('utf8');
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

  async function create(): Promise<Checkpoint> {
    const left = await readdir(join(directory, 'tile')).catch(() => []);
    if (left.length > 0) throw corrupt('tiles without a checkpoint', 'checkpoint');
    const signer = await options.signer();
    const origin = `writ-ledger/${randomOctets(16).toString('hex')}`;
    const key = ledgerKeyFor(origin, createPublicKey(signer.publicKeyPem));
    return publish(await signCheckpoint({ size: 0, root: emptyRoot }, signer, key));
  }

  async function publish(checkpoint: Checkpoint): Promise<Checkpoint> {
    await writeDurably(join(directory, 'checkpoint'), checkpoint.source, temporary);
    return checkpoint;
  }

  /** The user's memory outlives a ledger that was put back from a backup: appending to it would fork the log. */
  async function refuseRollback(current: Checkpoint): Promise<void> {
    const seen = await memory.latest(current.origin);
    if (seen === undefined || seen.size < current.size) return;
    if (seen.size > current.size || !seen.root.equals(current.root)) {
      throw corrupt(`it was seen with ${seen.size} entries and has ${current.size} now`, 'checkpoint');
    }
  }

  async function appendLocked(body: Uint8Array, behind: number): Promise<LogProof> {
    const before = (await head()) ?? (await create());
    await refuseRollback(before);
    const already = await indexOf(body, before, behind);
    if (already !== undefined) return proveAt(already, before);
    const growth = await growTree(before, body, read);
    // In any order, but all of them before the checkpoint that needs them.
    await Promise.all(
      [...growth.files].map(([path, bytes]) => writeDurably(join(directory, path), bytes, temporary)),
    );
    const signer = await options.signer();
    const key = ledgerKeyFor(before.origin, createPublicKey(signer.publicKeyPem));
    const after = await publish(await signCheckpoint(growth.head, signer, key));
    await memory.remember(after);
    await removeSuperseded(growth);
    return toProof(after, before.size, growth.path, body);
  }

  /** Newest entry of these bytes at `from` or later. */
  async function indexOf(body: Uint8Array, current: Checkpoint, from: number): Promise<number | undefined> {
    if (from >= current.size) return undefined;
    const leaf = leafHash(body);
    const subtree = readSubtrees(read, current.size);
    for (let index = current.size - 1; index >= from; index -= 1) {
      if ((await subtree(0, index)).equals(leaf)) return index;
    }
    return undefined;
  }

  async function removeSuperseded(growth: TreeGrowth): Promise<void> {
    for (const path of growth.superseded) {
      await rm(join(directory, path), { recursive: true, force: true });
    }
  }

  /** Runs again where an append replaced the tiles of the head just read. */
  async function reading<T>(work: (head: Checkpoint) => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      const current = await head();
      if (current === undefined)
        throw new WritError('LOG_FAILED', { message: 'there is no internal ledger here yet' });
      try {
        return await work(current);
      } catch (fault) {
        const moved = (await head())?.size !== current.size;
        if (!moved || round === 10) throw fault;
      }
    }
  }

  async function proveAt(index: number, current: Checkpoint): Promise<LogProof> {
    if (!Number.isSafeInteger(index) || index < 0 || index >= current.size) {
      throw new WritError('LOG_FAILED', {
        message: `expected an entry number below ${current.size}, found \`${index}\``,
        detail: { index, size: current.size },
      });
    }
    const subtree = readSubtrees(read, current.size);
    const hashes = await proveInclusion(index, current, subtree);
    const bundle = Math.floor(index / tileWidth);
    const path = tilePath('entries', bundle, widthAt(0, bundle, current.size));
    const entries = parseEntries(Buffer.from((await read(path)) ?? []));
    const body = entries?.[index % tileWidth];
    if (body === undefined || !leafHash(body).equals(await subtree(0, index))) {
      throw corrupt('an entry does not have its hash', path);
    }
    return toProof(current, index, hashes, body);
  }

  return {
    mode: 'internal-ledger',
    head,
    vkey: async () => {
      const current = (await head()) ?? (await locked(async () => (await head()) ?? create()));
      return (await keyOf(current.source)).vkey;
    },
    append: (body, { behind = Number.POSITIVE_INFINITY } = {}) => locked(() => appendLocked(body, behind)),
    size: async () => (await head())?.size ?? 0,
    prove: (index) => reading((current) => proveAt(index, current)),
    consistency: (from) =>
      reading(async (current) => {
        if (!Number.isSafeInteger(from) || from < 0 || from > current.size) {
          throw new WritError('LOG_FAILED', {
            message: `expected a size up to ${current.size}, found \`${from}\``,
          });
        }
        const hashes = await proveConsistency(from, current, readSubtrees(read, current.size));
        return { head: current, hashes };
      }),
    find: async (body) => {
      if ((await head()) === undefined) return undefined;
      return reading(async (current) => {
        const index = await indexOf(body, current, 0);
        return index === undefined ? undefined : proveAt(index, current);
      });
    },
  };
}

/** Reads ledger files out of a directory. */
export function readFrom(directory: string): LedgerFileReader {
  return (path) =>
    readFile(join(directory, path)).catch((fault: NodeJS.ErrnoException) => {
      if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR') return undefined;
      throw fault;
    });
}

function toProof(
  head: Checkpoint,
  logIndex: number,
  hashes: readonly Uint8Array[],
  body: Uint8Array,
): LogProof {
  return {
    origin: head.origin,
    logIndex,
    treeSize: head.size,
    rootHash: head.root,
    hashes,
    checkpoint: head.source,
    body,
  };
}
