import { type GitDirectory, gitLine } from './git.ts';

/** How many commits `to` has that `from` has not. */
export async function countCommits(place: GitDirectory, from: string, to: string): Promise<number> {
  const counted = await gitLine(place, ['rev-list', '--count', '--end-of-options', to, `^${from}`]);
  return Number(counted);
}
