import { type GitDirectory, runGit } from './git.ts';
import type { Identity } from './identity.ts';

/** Who wrote a commit, when, and with which words; all of it as the commit says. */
export interface RangeCommit {
  readonly author: Identity;
  /** Epoch seconds. */
  readonly authoredAt: number;
  readonly message: string;
}

/** As many as are read of a range. */
const maxCommits = 5000;

/** The commits of `from..to`, oldest first; of a longer range the newest 5,000. */
export async function rangeCommits(
  place: GitDirectory,
  from: string,
  to: string,
): Promise<readonly RangeCommit[]> {
  const listed = await runGit(place, [
    'log',
    '-z',
    `--max-count=${maxCommits}`,
    '--no-show-signature',
    '--no-use-mailmap',
    '--encoding=UTF-8',
    // A message ends at NUL, and no other field can hold one.
    '--format=%an%x00%ae%x00%at%x00%B',
    '--end-of-options',
    to,
    `^${from}`,
    '--',
  ]);
  const fields = listed.toString('utf8').split('\0');
  const commits: RangeCommit[] = [];
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [name = '', email = '', seconds = '', message = ''] = fields.slice(at, at + 4);
    commits.push({ author: { name, email }, authoredAt: Number(seconds), message });
  }
  return commits.reverse();
}
