/* Compares two versions of a record or of content by their first-parent history. */
import { type GitDirectory, maxListBytes, runGit } from '../../workspace/git/git.ts';
import { presentCommits } from '../../workspace/git/read-objects.ts';

/**
 * `here` relative to `there`. For diverged versions: whether `here` was committed later, earlier or in the same
 * second.
 */
export type Relation =
  | 'same'
  | 'ahead'
  | 'behind'
  | 'diverged-later'
  | 'diverged-earlier'
  | 'diverged-tie'
  | 'unknown';

export interface VersionPair {
  readonly here: string;
  readonly there: string;
}

/**
 * Compares many pairs with two processes, along first parents: the versions of every ref form such a line. `unknown`
 * if `there` is not in this repository.
 */
export async function compareVersions(
  place: GitDirectory,
  pairs: readonly VersionPair[],
): Promise<readonly Relation[]> {
  const differing = pairs.filter(({ here, there }) => here !== there);
  const present = await presentCommits(
    place,
    differing.flatMap(({ here, there }) => [here, there]),
  );
  const lines = await readLines(place, [...present]);
  return pairs.map(({ here, there }): Relation => {
    if (here === there) return 'same';
    if (!present.has(here) || !present.has(there)) return 'unknown';
    if (isAncestor(lines, there, here)) return 'ahead';
    if (isAncestor(lines, here, there)) return 'behind';
    const [mine, theirs] = [lines.get(here)?.seconds ?? 0, lines.get(there)?.seconds ?? 0];
    return mine > theirs ? 'diverged-later' : mine < theirs ? 'diverged-earlier' : 'diverged-tie';
  });
}

interface Step {
  readonly parent: string | undefined;
  readonly seconds: number;
}

async function readLines(place: GitDirectory, tips: readonly string[]): Promise<ReadonlyMap<string, Step>> {
  if (tips.length === 0) return new Map();
  const walked = await runGit(
    place,
    [
      'rev-list',
      '--first-parent',
      '--parents',
      '--timestamp',
      '--no-commit-header',
      // A content commit has the user's commit as a parent. That commit's history is not part of the line.
      '--not',
      '--branches',
      '--tags',
      '--remotes',
      '--not',
      '--stdin',
    ],
    { input: tips.map((tip) => `${tip}\n`).join(''), maxBytes: maxListBytes },
  );
  const lines = new Map<string, Step>();
  for (const line of walked.toString('utf8').split('\n')) {
    const [seconds = '', id = '', parent] = line.split(' ');
    if (id !== '') lines.set(id, { parent, seconds: Number(seconds) });
  }
  return lines;
}

function isAncestor(lines: ReadonlyMap<string, Step>, wanted: string, from: string): boolean {
  for (let at: string | undefined = from; at !== undefined; at = lines.get(at)?.parent)
    if (at === wanted) return true;
  return false;
}
