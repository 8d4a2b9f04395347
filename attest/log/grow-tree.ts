import { formatEntry, parseEntries } from './entry-bundle.ts';
import { proveInclusion } from './ledger-proofs.ts';
import { leafHash } from './merkle/hash.ts';
import { rangeHash } from './merkle/range-hash.ts';
import type { TreeHead } from './merkle/verify-consistency.ts';
import { partialDirectory, tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees, readTile, rootOf } from './tile-reader.ts';

/** What one more entry changes on disk. */
export interface TreeGrowth {
  readonly head: TreeHead;
  /** Audit path of the new entry in the new tree. */
  readonly path: readonly Buffer[];
  /** New tiles and entry bundle, to be written before the checkpoint. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Narrower versions of those, to be removed after it: every one is a prefix of what replaced it. */
  readonly superseded: readonly string[];
}

/**
 * Works out the tree with `body` appended, reading O(log n) tiles and the last entry bundle. The old right edge must lead to the
 * old root and the last bundle's entries to their hashes, else LEDGER_CORRUPT and nothing is to be written.
 */
export async function growTree(
  before: TreeHead,
  body: Uint8Array,
  read: LedgerFileReader,
): Promise<TreeGrowth> {
  const entry = formatEntry(body);
  const { size } = before;
  const root = await rangeHash({ start: 0, end: size }, readSubtrees(read, size));
  if (!root.equals(before.root)) throw corrupt('tiles and checkpoint disagree', 'checkpoint');

  const files = new Map<string, Buffer>();
  const superseded: string[] = [];
  function replace(level: number | 'entries', index: number, oldWidth: number, bytes: Buffer): void {
    files.set(tilePath(level, index, oldWidth + 1), bytes);
    if (oldWidth + 1 === tileWidth) superseded.push(partialDirectory(level, index));
    else if (oldWidth > 0) superseded.push(tilePath(level, index, oldWidth));
  }

  const last = Math.floor(size / tileWidth);
  replace('entries', last, size % tileWidth, Buffer.concat([await lastEntries(size, read), entry]));
  let hash = leafHash(body);
  let position = size;
  for (let level = 0; ; level += 1) {
    const index = Math.floor(position / tileWidth);
    const width = position % tileWidth;
    const old = width === 0 ? Buffer.alloc(0) : await readTile(read, tilePath(level, index, width), width);
    const tile = Buffer.concat([old, hash]);
    replace(level, index, width, tile);
    if (width + 1 < tileWidth) break;
    hash = rootOf(tile);
    position = index;
  }

  const subtree = readSubtrees(async (path) => files.get(path) ?? read(path), size + 1);
  const head = { size: size + 1, root: await rangeHash({ start: 0, end: size + 1 }, subtree) };
  return { head, path: await proveInclusion(size, head, subtree), files, superseded };
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
