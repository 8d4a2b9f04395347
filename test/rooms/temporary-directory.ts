import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where Linux keeps files in memory: a test that waits for no disk is as fast on a busy one. */
const memory = '/dev/shm';
/** Bytes that must be free there; a whole run of the tests holds a few hundred MiB at a time. */
const enough = 4 * 2 ** 30;

/** The directory in which temporary ones are made: what TMPDIR says; else in memory where there is room; else the system's. */
export function temporaryPlace(env: NodeJS.ProcessEnv = process.env): string {
  if (env.TMPDIR !== undefined && env.TMPDIR !== '') return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= enough ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** A directory of this process' own, which is TMPDIR from then on and goes with the process. */
export function ownTemporaryDirectory(): string {
  const directory = mkdtempSync(join(temporaryPlace(), 'writ-tests-'));
  process.env.TMPDIR = directory;
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
