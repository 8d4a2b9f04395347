/* Reads entries, proofs and history out of a ledger's files. */
import { WritError } from '../../core/base/errors.ts';
import type { LogProof } from '../../core/interfaces/sealing.ts';
import type { SignedCheckpoint } from './checkpoint.ts';
import { isConsistent, leafHash, nodeHash, rangeHash, type SubtreeReader, type TreeHead } from './merkle.ts';
import {
  corrupt,
  type LedgerFileReader,
  parseEntries,
  proveConsistency,
  proveInclusion,
  readSubtrees,
  readTile,
  rootOf,
  tilePath,
  tileWidth,
  widthAt,
} from './tiles.ts';

/** Two sizes of one log, and why the earlier is a prefix of the later. */
interface ConsistencyProof {
  readonly from: TreeHead;
  readonly to: TreeHead;
  readonly hashes: readonly Buffer[];
  /** The signed head that both were shown to be prefixes of. */
  readonly head: SignedCheckpoint;
}

/** Everything that a reader of a ledger's files can prove with its public key. */
export interface LedgerReader {
  /** The current tree head with a verified signature; `undefined` if there is no ledger. */
  head(): Promise<SignedCheckpoint | undefined>;
  /** Entry and proof against the current head. LEDGER_MISSING, LOG_FAILED for an index outside the tree. */
  prove(index: number): Promise<LogProof>;
  /**
   * RFC 6962 consistency proof between two sizes, the later by default that of the head; verified before it is given
   * out. LEDGER_MISSING, LOG_FAILED for sizes that are none.
   */
  consistency(from: number, to?: number): Promise<ConsistencyProof>;
  /** Proof for an entry of exactly these bytes, newest first; `undefined` where it was never logged. */
  find(body: Uint8Array): Promise<LogProof | undefined>;
}

const maxRounds = 10;

/** Reads a ledger through `read`; `verify` verifies the checkpoint. Damage is LEDGER_CORRUPT. */
export function openLedgerReader(
  read: LedgerFileReader,
  verify: (source: string) => Promise<SignedCheckpoint>,
): LedgerReader {
  async function head(): Promise<SignedCheckpoint | undefined> {
    const bytes = await read('checkpoint');
    return bytes === undefined ? undefined : verify(Buffer.from(bytes).toString('utf8'));
  }

  /** Runs again where an append replaced the tiles of the head just read. */
  async function reading<T>(work: (head: SignedCheckpoint) => Promise<T>): Promise<T> {
    for (let round = 1; ; round += 1) {
      const current = await head();
      if (current === undefined) throw new WritError('LEDGER_MISSING');
      try {
        return await work(current);
      } catch (fault) {
        const moved = (await head())?.size !== current.size;
        if (!moved || round === maxRounds) throw fault;
      }
    }
  }

  return {
    head,
    prove: (index) => reading((current) => proveEntry(index, current, read)),
    consistency: (from, to) =>
      reading((current) => proveSizes(from, to ?? current.size, current, readSubtrees(read, current.size))),
    find: async (body) => {
      if ((await head()) === undefined) return undefined;
      return reading(async (current) => {
        const index = await indexOfEntry(body, current.size, 0, read);
        return index === undefined ? undefined : proveEntry(index, current, read);
      });
    },
  };
}

/** Entry `index` and its proof in the tree of `head`; O(log n) files are read. */
export async function proveEntry(
  index: number,
  head: SignedCheckpoint,
  read: LedgerFileReader,
): Promise<LogProof> {
  if (!Number.isSafeInteger(index) || index < 0 || index >= head.size) {
    throw new WritError('LOG_FAILED', {
      message: `expected an entry number below ${head.size}, found \`${index}\``,
      detail: { index, size: head.size },
    });
  }
  const subtree = readSubtrees(read, head.size);
  const bundle = Math.floor(index / tileWidth);
  const path = tilePath('entries', bundle, widthAt(0, bundle, head.size));
  const [hashes, bytes] = await Promise.all([proveInclusion(index, head, subtree), read(path)]);
  const entries = parseEntries(Buffer.from(bytes ?? []));
  const body = entries?.[index % tileWidth];
  if (body === undefined || !leafHash(body).equals(await subtree(0, index))) {
    throw corrupt('an entry does not have its hash', path);
  }
  return toProof(head, index, hashes, body);
}

/** Number of the newest entry of these bytes at `from` or later, by the hash tiles alone; the caller proves it. */
export async function indexOfEntry(
  body: Uint8Array,
  size: number,
  from: number,
  read: LedgerFileReader,
): Promise<number | undefined> {
  const leaf = leafHash(body);
  for (let tile = Math.ceil(size / tileWidth) - 1; tile >= 0 && (tile + 1) * tileWidth > from; tile -= 1) {
    const width = widthAt(0, tile, size);
    const hashes = await readTile(read, tilePath(0, tile, width), width);
    for (let at = width - 1; at >= 0 && tile * tileWidth + at >= from; at -= 1)
      if (hashes.subarray(at * 32, at * 32 + 32).equals(leaf)) return tile * tileWidth + at;
  }
  return undefined;
}

/** A proof as verifiers keep it. */
export function toProof(
  head: SignedCheckpoint,
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

async function proveSizes(
  from: number,
  to: number,
  head: SignedCheckpoint,
  subtree: SubtreeReader,
): Promise<ConsistencyProof> {
  for (const size of [from, to]) {
    if (Number.isSafeInteger(size) && size >= 0 && size <= head.size) continue;
    throw new WritError('LOG_FAILED', {
      message: `expected a size up to ${head.size}, found \`${size}\``,
      detail: { size, head: head.size },
    });
  }
  if (from > to) {
    throw new WritError('LOG_FAILED', {
      message: `expected the smaller size first, found \`${from}\` and \`${to}\``,
      detail: { from, to },
    });
  }
  const rootAt = async (size: number): Promise<TreeHead> => ({
    size,
    root: size === head.size ? head.root : await rangeHash({ start: 0, end: size }, subtree),
  });
  const [earlier, later] = [await rootAt(from), await rootAt(to)];
  const hashes = await proveConsistency(from, later, subtree);
  const onward = await proveConsistency(to, head, subtree);
  if (!isConsistent(earlier, later, hashes) || !isConsistent(later, head, onward))
    throw corrupt('tiles and checkpoint disagree', `sizes ${from} and ${to}`);
  return { from: earlier, to: later, hashes, head };
}

/**
 * Number of the first entry from `start` on that `matches`. Every one of them is read and shown to lead to the root of
 * `head`, so that none can be left out or exchanged; else LEDGER_CORRUPT.
 */
export async function findEntry(
  read: LedgerFileReader,
  head: TreeHead,
  start: number,
  matches: (body: Uint8Array) => boolean,
): Promise<number | undefined> {
  const stored = readSubtrees(read, head.size);
  let bundle: { readonly index: number; readonly entries: readonly Buffer[] } | undefined;
  let found: number | undefined;

  async function entryAt(index: number): Promise<Buffer> {
    const at = Math.floor(index / tileWidth);
    const path = tilePath('entries', at, widthAt(0, at, head.size));
    if (bundle?.index !== at) {
      const entries = parseEntries(Buffer.from((await read(path)) ?? []));
      bundle = { index: at, entries: entries ?? [] };
    }
    const body = bundle.entries[index % tileWidth];
    if (body === undefined) throw corrupt('an entry is missing', path);
    return body;
  }

  // One after the other, so that one bundle at a time is in memory.
  const subtree: SubtreeReader = async (height, index) => {
    if ((index + 1) * 2 ** height <= start) return stored(height, index);
    if (height > 0) {
      const left = await subtree(height - 1, index * 2);
      return nodeHash(left, await subtree(height - 1, index * 2 + 1));
    }
    const body = await entryAt(index);
    if (found === undefined && matches(body)) found = index;
    return leafHash(body);
  };

  const root = await rangeHash({ start: 0, end: head.size }, subtree);
  if (!root.equals(head.root)) throw corrupt('entries and checkpoint disagree', 'checkpoint');
  return found;
}

/** Most tiles of one level: the newest 65,536 entries one by one, all before them by their tiles. */
const perLevel = 256;

interface Tile {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

/**
 * The hash tiles that distinguish a tree of `size` from others, newest last; at most 256 of each level (8 KiB each).
 */
function tilesOf(size: number): readonly Tile[] {
  const tiles: Tile[] = [];
  for (let level = 0; widthAt(level, 0, size) > 0; level += 1) {
    const count = Math.ceil(Math.floor(size / tileWidth ** level) / tileWidth);
    for (let index = Math.max(0, count - perLevel); index < count; index += 1)
      tiles.push({ level, index, width: widthAt(level, index, size) });
  }
  return tiles;
}

/**
 * Reads the tiles that show of any size up to `head.size` whether it was a prefix: hash tiles without entries, each
 * shown to lead to the root of `head`. Beyond 65,536 entries, older sizes only if they are multiples of 256.
 * LEDGER_CORRUPT where a tile is missing or is not of this tree.
 */
export async function readHistory(
  read: LedgerFileReader,
  head: TreeHead,
): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for (const { level, index, width } of tilesOf(head.size)) {
    const path = tilePath(level, index, width);
    files.set(path, await readTile(read, path, width));
  }
  const kept: LedgerFileReader = async (path) => files.get(path);
  const root = await rangeHash({ start: 0, end: head.size }, readSubtrees(kept, head.size));
  if (!root.equals(head.root)) throw corrupt('tiles and checkpoint disagree', 'checkpoint');
  for (const { level, index, width } of tilesOf(head.size)) {
    if (width < tileWidth) continue;
    // A partial tile is part of the root above; a full one is an entry of the tile above it.
    const above = Math.floor(index / tileWidth);
    const parent = files.get(tilePath(level + 1, above, widthAt(level + 1, above, head.size)));
    const at = (index % tileWidth) * 32;
    const path = tilePath(level, index, width);
    if (parent?.subarray(at, at + 32).equals(rootOf(files.get(path) ?? Buffer.alloc(0))) !== true)
      throw corrupt('a tile is not of this tree', path);
  }
  return files;
}
