import { parseEntries } from './entry-bundle.ts';
import { leafHash } from './merkle/hash.ts';
import { rangeHash } from './merkle/range-hash.ts';
import type { TreeHead } from './merkle/verify-consistency.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees, readTile, rootOf } from './tile-reader.ts';

/**
 * Reads a whole ledger: every entry has its leaf hash, every tile follows from the one below, and all of it leads to the root of `head`.
 * LEDGER_CORRUPT names the first file that does not. One bundle and one level are in memory at a time.
 */
export async function auditLedger(read: LedgerFileReader, head: TreeHead): Promise<void> {
  for (let bundle = 0; bundle * tileWidth < head.size; bundle += 1)
    await auditBundle(read, bundle, head.size);
  for (let level = 0; head.size >= tileWidth ** (level + 1); level += 1)
    await auditLevel(read, level, head.size);
  const root = await rangeHash({ start: 0, end: head.size }, readSubtrees(read, head.size));
  if (!root.equals(head.root)) throw corrupt('tiles and checkpoint disagree', 'checkpoint');
}

async function auditBundle(read: LedgerFileReader, index: number, size: number): Promise<void> {
  const width = widthAt(0, index, size);
  const tile = await readTile(read, tilePath(0, index, width), width);
  const path = tilePath('entries', index, width);
  const entries = parseEntries(Buffer.from((await read(path)) ?? []));
  const whole =
    entries?.length === width &&
    entries.every((entry, at) => leafHash(entry).equals(tile.subarray(at * 32, at * 32 + 32)));
  if (!whole) throw corrupt('entries do not have their hashes', path);
}

/** Full tiles of `level` against the level above. */
async function auditLevel(read: LedgerFileReader, level: number, size: number): Promise<void> {
  const full = Math.floor(size / tileWidth ** (level + 1));
  const above = readSubtrees(read, size);
  for (let index = 0; index < full; index += 1) {
    const path = tilePath(level, index, tileWidth);
    const expected = await above(8 * (level + 1), index);
    if (!rootOf(await readTile(read, path, tileWidth)).equals(expected)) {
      throw corrupt('a tile does not have the hash that the level above holds', path);
    }
  }
}
