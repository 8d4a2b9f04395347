import { WritError } from '../base/errors.ts';
import { type GitDirectory, gitLine } from './git.ts';

/** Committer time of a commit, epoch milliseconds. */
export async function commitTimeMs(place: GitDirectory, commit: string): Promise<number> {
  const text = await gitLine(place, [
    'log',
    '-1',
    '--no-show-signature',
    '--format=%ct',
    '--end-of-options',
    commit,
  ]);
  const seconds = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(seconds * 1000)) {
    throw new WritError('GIT_FAILED', {
      message: `the committer time of \`${commit}\` cannot be read`,
      detail: { commit },
    });
  }
  return seconds * 1000;
}
