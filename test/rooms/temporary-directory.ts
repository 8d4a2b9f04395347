import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new directory below TMPDIR, with the rights of such a place: tests run programs as other users too. */
export function makeTemporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'writ-tests-'));
  chmodSync(directory, 0o1777);
  return directory;
}

/** A directory of this process' own, which is TMPDIR from then on and goes with the process. */
export function ownTemporaryDirectory(): string {
  const directory = makeTemporaryDirectory();
  process.env.TMPDIR = directory;
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
