import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { parseCheckpoint } from './checkpoint.ts';
import { writeDurably } from './durable-file.ts';
import { takeLock } from './ledger-lock.ts';
import { readLeaves, requireLeaves, rootOver, tilesOver } from './ledger-tiles.ts';
import { readFrom } from './read-from.ts';
import { corrupt } from './tile-reader.ts';

const lockWaitMs = 15_000;

/**
 * Writes anew every tile that does not follow from the entries; answers their paths. LEDGER_CORRUPT, and nothing is
 * written, where the entries are not what the checkpoint signed: they and it are the source, and cannot be derived.
 */
export async function rebuildLedger(directory: string, clock: Clock): Promise<readonly string[]> {
  const read = readFrom(directory);
  if ((await read('checkpoint')) === undefined) return [];
  const lock = await takeLock(directory, clock, lockWaitMs);
  try {
    const head = parseCheckpoint(Buffer.from((await read('checkpoint')) ?? []).toString('utf8'));
    const leaves = requireLeaves(await readLeaves(read, head.size));
    if (!(await rootOver(leaves)).equals(head.root))
      throw corrupt('the entries do not lead to the root of the checkpoint', 'checkpoint');
    const temporary = join(directory, 'tmp');
    await mkdir(temporary, { recursive: true });
    const wrong = new Map<string, Buffer>();
    for (const [path, bytes] of tilesOver(leaves)) {
      const found = await read(path);
      if (found !== undefined && bytes.equals(found)) continue;
      wrong.set(path, bytes);
    }
    await writeDurably(directory, wrong, temporary);
    return [...wrong.keys()];
  } finally {
    await lock.release();
  }
}
