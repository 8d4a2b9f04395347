import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { seededRandom } from '../../chance/seeded-random.ts';

const { root, outside, stop, seed } = workerData as {
  readonly root: string;
  readonly outside: string;
  readonly stop: Int32Array;
  readonly seed: number;
};

/**
 * In a thread of its own: `swapped` is a directory, then a link out of the repository, then a directory, as fast as it
 * goes.
 */
const random = seededRandom(seed);
const name = join(root, 'swapped');
const link = join(root, 'link');
const directory = join(root, 'directory');
mkdirSync(directory, { recursive: true });
while (Atomics.load(stop, 0) === 0) {
  renameSync(directory, name);
  linger();
  renameSync(name, directory);
  symlinkSync(outside, link);
  renameSync(link, name);
  linger();
  rmSync(name);
  Atomics.add(stop, 1, 1);
}

/** Each state lasts about as long as a request takes, so that both are met. */
function linger(): void {
  Atomics.wait(stop, 0, 0, random() * 2);
}
