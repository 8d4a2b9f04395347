import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { openDirtyMarks } from '../../../service/dirty-marks.ts';
import { acquireProcessLock } from '../../../workspace/process/process-lock.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { instant } from '../../waiting/instant.ts';

const { Database }: typeof import('node-sqlite3-wasm') = createRequire(import.meta.url)('node-sqlite3-wasm');
const writer = fileURLToPath(new URL('write-batches.ts', import.meta.url));
const rowsPerBatch = 20;

export interface KillReport {
  readonly acknowledged: number;
  /** Batches that a kill kept from being acknowledged, and that are there. */
  readonly beyond: number;
  readonly killedWhileOpening: number;
  readonly complaints: readonly string[];
}

/**
 * Kills a writer at an instant by chance, `rounds` times over the same database: in every fourth round (the first makes
 * the database) at some moment of its start, else among its batches. Every second time the next writer is the first to
 * open what is left, else we are, and look at every batch.
 */
export async function killWriters(directory: string, rounds: number, seed: number): Promise<KillReport> {
  const random = seededRandom(seed);
  const acknowledged = new Set<number>();
  const complaints: string[] = [];
  let killedWhileOpening = 0;
  let beyond = 0;
  for (let round = 0; round < rounds; round += 1) {
    const first = round * 1_000_000;
    const { out, err } = await oneWriter(
      directory,
      first,
      round % 4 === 0 ? 'opening' : (round % 5) * 3,
      random,
    );
    if (err !== '') complaints.push(`round ${round}: ${err}`);
    if (!out.includes('ready\n')) killedWhileOpening += 1;
    for (const [, batch] of out.matchAll(/^ack (\d+)$/gm)) acknowledged.add(Number(batch));
    if (round % 2 === 0 && round < rounds - 1) continue;
    const found = await look(directory);
    beyond = [...found.keys()].filter((batch) => !acknowledged.has(batch)).length;
    for (const batch of acknowledged)
      if (!found.has(batch)) complaints.push(`round ${round}: batch ${batch} was acknowledged and is gone`);
    for (const [batch, rows] of found)
      if (rows !== rowsPerBatch) complaints.push(`round ${round}: batch ${batch} has ${rows} rows`);
    const answer = integrity(directory);
    if (answer !== 'ok') complaints.push(`round ${round}: ${answer}`);
  }
  return { acknowledged: acknowledged.size, beyond, killedWhileOpening, complaints };
}

/** Killed at some moment of its start, or soon after that many batches were acknowledged. */
async function oneWriter(directory: string, first: number, until: 'opening' | number, random: () => number) {
  const child = spawn(process.execPath, [writer, directory, String(first), String(rowsPerBatch)]);
  let out = '';
  let err = '';
  const far = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      if (out.split('\n').length - 2 >= Number(until)) resolve();
    });
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const closed = once(child, 'close');
  if (until === 'opening') await instant(60 + random() * 300);
  else await Promise.race([far.then(() => instant(random() * 5)), closed]);
  child.kill('SIGKILL');
  await closed;
  return { out, err };
}

/** How many rows of each batch there are. */
async function look(directory: string): Promise<ReadonlyMap<number, number>> {
  const lock = await acquireProcessLock(join(directory, 'service.lock'), {
    busy: () => new WritError('RUN_BUSY'),
  });
  const marks = await openDirtyMarks(join(directory, 'service.db'), systemClock);
  const found = new Map<number, number>();
  for (const { path } of marks.list({ limit: 10_000_000 })) {
    const batch = Number(/^batch-(\d+)\//.exec(path)?.[1]);
    found.set(batch, (found.get(batch) ?? 0) + 1);
  }
  marks.close();
  await lock.release();
  return found;
}

function integrity(directory: string): unknown {
  const database = new Database(join(directory, 'service.db'), { fileMustExist: true });
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE');
    return database.get('PRAGMA integrity_check')?.integrity_check;
  } finally {
    database.close();
  }
}
