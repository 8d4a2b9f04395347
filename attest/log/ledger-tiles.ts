import { parseEntries } from './entry-bundle.ts';
import { leafHash } from './merkle/hash.ts';
import { rangeHash } from './merkle/range-hash.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import { corrupt, type LedgerFileReader, readSubtrees, rootOf } from './tile-reader.ts';

/**
 * Leaf hashes of a ledger's entries, from the entries alone; `undefined` in a place whose bundle is missing or
 * misshapen.
 */
export async function readLeaves(
  read: LedgerFileReader,
  size: number,
): Promise<readonly (Buffer | undefined)[]> {
  const leaves: (Buffer | undefined)[] = [];
  for (let bundle = 0; bundle * tileWidth < size; bundle += 1) {
    const width = widthAt(0, bundle, size);
    const entries = parseEntries(Buffer.from((await read(tilePath('entries', bundle, width))) ?? []));
    const whole = entries?.length === width;
    for (let at = 0; at < width; at += 1) {
      const entry = whole ? entries[at] : undefined;
      leaves.push(entry && leafHash(entry));
    }
  }
  return leaves;
}

/** Every hash tile of the tree over these leaves, by path (C2SP tlog-tiles). */
export function* tilesOver(leaves: readonly Buffer[]): Generator<readonly [path: string, bytes: Buffer]> {
  let hashes = leaves;
  for (let level = 0; hashes.length > 0; level += 1) {
    const above: Buffer[] = [];
    for (let index = 0; index * tileWidth < hashes.length; index += 1) {
      const own = hashes.slice(index * tileWidth, (index + 1) * tileWidth);
      const bytes = Buffer.concat(own);
      yield [tilePath(level, index, own.length), bytes];
      if (own.length === tileWidth) above.push(rootOf(bytes));
    }
    hashes = above;
  }
}

/** RFC 6962 root over leaves. */
export async function rootOver(leaves: readonly Buffer[]): Promise<Buffer> {
  const tiles = new Map(tilesOver(leaves));
  const read: LedgerFileReader = async (path) => tiles.get(path);
  return rangeHash({ start: 0, end: leaves.length }, readSubtrees(read, leaves.length));
}

/** The leaves where every entry is there, else LEDGER_CORRUPT. */
export function requireLeaves(leaves: readonly (Buffer | undefined)[]): readonly Buffer[] {
  const whole = leaves.filter((leaf) => leaf !== undefined);
  if (whole.length === leaves.length) return whole;
  throw corrupt(
    'entries are missing',
    tilePath('entries', Math.floor(leaves.indexOf(undefined) / tileWidth), tileWidth),
  );
}
