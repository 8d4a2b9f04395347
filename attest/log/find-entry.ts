import { parseEntries } from './entry-bundle.ts';
import { leafHash, nodeHash } from './merkle/hash.ts';
import { rangeHash, type SubtreeReader } from './merkle/range-hash.ts';
import type { TreeHead } from './merkle/verify-consistency.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees } from './tile-reader.ts';

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
