import { WritError } from '../../core/base/errors.ts';
import { readObjects } from './blobs.ts';
import type { GitDirectory } from './git.ts';

/** Committer time of a commit, epoch milliseconds. */
export async function commitTimeMs(place: GitDirectory, commit: string): Promise<number> {
  const [object] = await readObjects(place, [`${commit}^{commit}`]);
  const [header = ''] = object?.bytes.toString('utf8').split('\n\n', 1) ?? [];
  const text = /^committer [^\n]*> (-?\d+) [+-]\d+$/m.exec(header)?.[1] ?? '';
  const seconds = Number(text);
  if (text === '' || !Number.isSafeInteger(seconds * 1000)) {
    throw new WritError('GIT_FAILED', {
      message: `the committer time of \`${commit}\` cannot be read`,
      detail: { commit },
    });
  }
  return seconds * 1000;
}
