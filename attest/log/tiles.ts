/* The files of a tiled log (C2SP tlog-tiles): paths, readers, and proofs out of tiles. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import type { Checkpoint } from './checkpoint.ts';
import {
  consistencyRanges,
  inclusionRanges,
  isConsistent,
  nodeHash,
  rangeHash,
  rootFromInclusion,
  type SubtreeReader,
  type TreeHead,
} from './merkle.ts';

/** Hashes in a full tile, entries in a full bundle. */
export const tileWidth = 256;

/** Path of a tile or entry bundle below the ledger's directory (C2SP tlog-tiles). `width` 256 is the full one. */
export function tilePath(level: number | 'entries', index: number, width: number): string {
  return `${tilePrefix(level, index)}${width === tileWidth ? '' : `.p/${width}`}`;
}

/** Directory of the partial versions of a tile. */
export function partialDirectory(level: number | 'entries', index: number): string {
  return `${tilePrefix(level, index)}.p`;
}

function tilePrefix(level: number | 'entries', index: number): string {
  const groups = [three(index % 1000)];
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${three(rest % 1000)}`);
  }
  return `tile/${level}/${groups.join('/')}`;
}

function three(group: number): string {
  return String(group).padStart(3, '0');
}

/** Entries that tile `index` of `level` holds in a tree of `size`: 0 to 256. */
export function widthAt(level: number, index: number, size: number): number {
  const hashes = Math.floor(size / tileWidth ** level);
  return Math.max(0, Math.min(tileWidth, hashes - index * tileWidth));
}

/** A file of the ledger by its path below the ledger's directory; `undefined` where there is none. */
export type LedgerFileReader = (path: string) => Promise<Uint8Array | undefined>;

/**
 * Reads complete subtrees of a tree of `size` from its tiles, each tile once. A missing or misshapen tile is
 * LEDGER_CORRUPT.
 */
export function readSubtrees(read: LedgerFileReader, size: number): SubtreeReader {
  const tiles = new Map<string, Promise<Buffer>>();
  return async (height, index) => {
    const level = Math.floor(height / 8);
    const span = 2 ** (height - level * 8);
    const first = index * span;
    const tileIndex = Math.floor(first / tileWidth);
    const width = widthAt(level, tileIndex, size);
    const offset = first % tileWidth;
    if (width < offset + span) throw corrupt('a subtree lies outside the tree', `level ${level}`);
    const path = tilePath(level, tileIndex, width);
    const tile = tiles.get(path) ?? readTile(read, path, width);
    tiles.set(path, tile);
    return rootOf((await tile).subarray(offset * 32, (offset + span) * 32));
  };
}

/** Root over 2^k concatenated hashes. */
export function rootOf(hashes: Buffer): Buffer {
  if (hashes.length === 32) return hashes;
  const half = hashes.length / 2;
  return nodeHash(rootOf(hashes.subarray(0, half)), rootOf(hashes.subarray(half)));
}

/** One tile of `width` hashes. */
export async function readTile(read: LedgerFileReader, path: string, width: number): Promise<Buffer> {
  const bytes = await read(path);
  if (bytes === undefined) throw corrupt('a tile is missing', path, undefined, { missing: true });
  if (bytes.length !== width * 32) {
    throw corrupt(`a tile must have ${width * 32} octets, found ${bytes.length}`, path);
  }
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** LEDGER_CORRUPT about one file of the ledger. */
export function corrupt(
  found: string,
  path: string,
  cause?: unknown,
  more: { readonly missing?: true } = {},
): WritError {
  return new WritError('LEDGER_CORRUPT', {
    message: `the internal ledger is damaged: ${found} (\`${path}\`)`,
    detail: { path, ...more },
    cause,
  });
}

/** Longest entry that a bundle can hold: its length is a 16-bit number (C2SP tlog-tiles). */
const maxEntryBytes = 65_535;

/** Largest file of a ledger: a bundle of 256 of them. */
export const maxBundleBytes = 256 * (2 + maxEntryBytes);

/** `length ‖ entry`, to be appended to a bundle. 1 to 65,535 octets, else LOG_FAILED. */
export function formatEntry(entry: Uint8Array): Buffer {
  if (entry.length === 0 || entry.length > maxEntryBytes) {
    throw new WritError('LOG_FAILED', {
      message: `a log entry must have 1 to ${maxEntryBytes} octets, found ${entry.length}`,
      detail: { octets: entry.length },
    });
  }
  const length = Buffer.alloc(2);
  length.writeUInt16BE(entry.length);
  return Buffer.concat([length, entry]);
}

/** Parses a bundle; `undefined` where a length does not fit. */
export function parseEntries(bundle: Buffer): readonly Buffer[] | undefined {
  const entries: Buffer[] = [];
  let at = 0;
  while (at < bundle.length) {
    if (at + 2 > bundle.length) return undefined;
    const end = at + 2 + bundle.readUInt16BE(at);
    if (end > bundle.length) return undefined;
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}

/** An append replaces a partial tile while it is looked for; each round is an append. */
const maxRounds = 8;

/** The first `width` hashes of a tile, or entries of a bundle; `undefined` where it does not hold so many. */
export function cutTile(bytes: Uint8Array, isBundle: boolean, width: number): Buffer | undefined {
  const tile = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isBundle) return tile.length >= width * 32 ? tile.subarray(0, width * 32) : undefined;
  const entries = parseEntries(tile);
  if (entries === undefined || entries.length < width) return undefined;
  return tile.subarray(
    0,
    entries.slice(0, width).reduce((sum, entry) => sum + 2 + entry.length, 0),
  );
}

/**
 * A partial tile or bundle that an append replaced, cut from a wider one, so that readers of an older checkpoint still
 * find it. `undefined` for a path of no partial tile, and where none is wider. `list` returns the names in a directory.
 */
export async function cutFromWider(
  path: string,
  read: LedgerFileReader,
  list: (directory: string) => Promise<readonly string[]>,
): Promise<Buffer | undefined> {
  const match = /^(tile\/(?:entries|[0-9]{1,2})\/[x0-9/]+)\.p\/([1-9][0-9]{0,2})$/.exec(path);
  if (match === null) return undefined;
  const [, tile = '', digits] = match;
  const width = Number(digits);
  for (let round = 0; round < maxRounds; round += 1) {
    const partial = (await list(`${tile}.p`))
      .filter((name) => /^[1-9][0-9]{0,2}$/.test(name))
      .map(Number)
      .filter((other) => other >= width && other < tileWidth);
    const isPartial = partial.length > 0;
    const bytes = await read(isPartial ? `${tile}.p/${Math.max(...partial)}` : tile);
    if (bytes !== undefined) return cutTile(bytes, tile.startsWith('tile/entries/'), width);
    // A wider one is put in place before a narrower one goes.
    if (!isPartial) return undefined;
  }
  return undefined;
}

const absentCodes = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EINVAL', 'EFBIG'];

/**
 * Reads ledger files out of a directory that may be hostile: a link, a pipe or a file too large for a ledger counts as
 * absent. A partial tile that an append has replaced is cut from the wider one.
 */
export function readFrom(directory: string): LedgerFileReader {
  const read: LedgerFileReader = async (path) => {
    const { bytes, fault } = readPlain(join(directory, path), maxBundleBytes);
    if (fault && !absentCodes.includes(fault.code ?? '')) throw fault;
    return bytes;
  };
  const list = (folder: string): Promise<readonly string[]> =>
    readdir(join(directory, folder)).catch(() => []);
  return async (path) => (await read(path)) ?? (await cutFromWider(path, read, list));
}

/**
 * Audit path of an entry in the tree of `head`, checked before it is given out; LEDGER_CORRUPT where it does not lead
 * to the root.
 */
export async function proveInclusion(
  index: number,
  head: TreeHead,
  subtree: SubtreeReader,
): Promise<readonly Buffer[]> {
  const hashes = await Promise.all(
    inclusionRanges(index, head.size).map((range) => rangeHash(range, subtree)),
  );
  const root = rootFromInclusion(index, head.size, await subtree(0, index), hashes);
  if (root?.equals(head.root) !== true) throw corrupt('tiles and checkpoint disagree', `entry ${index}`);
  return hashes;
}

/** Nodes for the proof that `from` is a prefix of `to`, as many as RFC 6962 requires. The caller verifies them. */
export async function proveConsistency(
  from: number,
  to: TreeHead,
  subtree: SubtreeReader,
): Promise<readonly Buffer[]> {
  return Promise.all(consistencyRanges(from, to.size).map((range) => rangeHash(range, subtree)));
}

/** True when the tiles behind `subtree`, which lead to `to`, also lead to `from`. */
export async function isPrefix(from: TreeHead, to: TreeHead, subtree: SubtreeReader): Promise<boolean> {
  if (from.size > to.size) return false;
  return isConsistent(from, to, await proveConsistency(from.size, to, subtree));
}

/** One version of a log and its files. */
export interface LogVersion<Head extends Checkpoint = Checkpoint> {
  readonly head: Head;
  readonly read: LedgerFileReader;
}

/** True if the log begins with the entries of that tree. */
export function isPartOf(tree: TreeHead, { head, read }: LogVersion): Promise<boolean> {
  return isPrefix(tree, head, readSubtrees(read, head.size));
}
