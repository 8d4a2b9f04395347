import { rangeHash } from './merkle/range-hash.ts';
import type { TreeHead } from './merkle/verify-consistency.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees, readTile, rootOf } from './tile-reader.ts';

/** Most tiles of one level: the newest 65,536 entries one by one, all before them by their tiles. */
const perLevel = 256;

interface Tile {
  readonly level: number;
  readonly index: number;
  readonly width: number;
}

/** The hash tiles that tell a tree of `size` from others, newest last; of each level at most 256 (8 KiB each). */
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
 * What shows, of any size up to `head.size` that anybody may have seen, whether it was a prefix: the hash tiles without
 * the entries, each of them shown to lead to the root of `head`. Beyond 65,536 entries the older sizes only as far as
 * they are multiples of 256. LEDGER_CORRUPT where a tile is missing or is not of this tree.
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
