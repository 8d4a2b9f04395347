import { parseCheckpoint } from './checkpoint.ts';
import { cutTile } from './cut-tile.ts';
import { tilePath, tileWidth, widthAt } from './tile-path.ts';
import type { LedgerFileReader } from './tile-reader.ts';

/** One resource of a log (C2SP tlog-tiles), with the headers that it asks for. */
export interface ServedFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly cacheControl: string;
}

interface Asked {
  readonly level: number | 'entries';
  readonly index: number;
  readonly width: number;
}

const maxLevel = 63;
const maxRounds = 5;

/**
 * What a log answers to a request target; `undefined` for whatever it has not: only the exact spellings of the format
 * are names, and only tiles of the tree that the checkpoint covers exist. Narrower versions of a tile are cut from the
 * one that is there.
 */
export async function readServedFile(
  read: LedgerFileReader,
  target: string,
): Promise<ServedFile | undefined> {
  if (target === '/checkpoint') {
    const bytes = await read('checkpoint');
    return (
      bytes && {
        bytes: Buffer.from(bytes),
        contentType: 'text/plain; charset=utf-8',
        cacheControl: 'no-cache',
      }
    );
  }
  const asked = parseTilePath(target);
  if (asked === undefined) return undefined;
  for (let round = 1; ; round += 1) {
    const size = await currentSize(read);
    const bytes = await readAsked(read, asked, size);
    // An append in between replaces partial tiles.
    if (bytes === undefined && round < maxRounds && (await currentSize(read)) !== size) continue;
    return (
      bytes && {
        bytes,
        contentType: 'application/octet-stream',
        cacheControl: 'public, max-age=31536000, immutable',
      }
    );
  }
}

async function readAsked(
  read: LedgerFileReader,
  { level, index, width }: Asked,
  size: number,
): Promise<Buffer | undefined> {
  const stored = widthAt(level === 'entries' ? 0 : level, index, size);
  if (width > stored) return undefined;
  const found = await read(tilePath(level, index, stored));
  return found && cutTile(found, level === 'entries', width);
}

async function currentSize(read: LedgerFileReader): Promise<number> {
  const bytes = await read('checkpoint');
  return bytes === undefined ? 0 : parseCheckpoint(Buffer.from(bytes).toString('utf8')).size;
}

/**
 * Takes a target apart and accepts only what would be written for it; nothing is decoded, so no other spelling leads
 * anywhere.
 */
function parseTilePath(target: string): Asked | undefined {
  const match =
    /^\/tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,4}[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/.exec(target);
  if (match === null) return undefined;
  const [, kind = '', groups = '', partial] = match;
  const level = kind === 'entries' ? kind : Number(kind);
  const index = Number(groups.replace(/[x/]/g, ''));
  const width = partial === undefined ? tileWidth : Number(partial);
  if ((level !== 'entries' && level > maxLevel) || (partial !== undefined && width >= tileWidth))
    return undefined;
  return target === `/${tilePath(level, index, width)}` ? { level, index, width } : undefined;
}
