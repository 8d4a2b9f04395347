import { WritError } from '../../core/base/errors.ts';
import { nodeHash } from './merkle/hash.ts';
import type { SubtreeReader } from './merkle/range-hash.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';

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
