import { formatEntry, parseEntries } from './entry-bundle.ts';
import { leafHash } from './merkle/hash.ts';
import { rangeHash, type SubtreeReader } from './merkle/range-hash.ts';
import type { TreeHead } from './merkle/verify-consistency.ts';
import { partialDirectory, tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees, readTile, rootOf } from './tile-reader.ts';

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
 * Works out the tree with `bodies` appended, reading O(log n) tiles and the last entry bundle. The old right edge must
 * lead to the old root and the last bundle's entries to their hashes, else LEDGER_CORRUPT and nothing is to be written.
 */
export async function growTree(
  before: TreeHead,
  bodies: readonly Uint8Array[],
  read: LedgerFileReader,
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

  let hashes: readonly Buffer[] = bodies.map(leafHash);
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

/** Width of the tile that the last of `count` things stands in. */
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
