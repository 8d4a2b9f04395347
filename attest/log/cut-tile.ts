import { parseEntries } from './entry-bundle.ts';
import { tileWidth } from './tile-path.ts';
import type { LedgerFileReader } from './tile-reader.ts';

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
 * A partial tile or bundle that an append replaced, cut from the wider one that stands for it: whoever read an older
 * checkpoint misses nothing. `undefined` for what is no partial tile, and where none is wider. `list` names what stands
 * in a directory.
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
