import { type GitDirectory, runGit } from '../../workspace/git/git.ts';

/**
 * Relation of `here` to `there`. If neither descends from the other: whether `here` was committed later, earlier or
 * in the same second.
 */
export type Standing =
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

const maxWalkBytes = 256 * 1024 * 1024;

/**
 * Returns the relation for many pairs with two processes, along first parents: every ref of ours has a linear
 * history. `unknown` if a commit is not in this repository.
 */
export async function compareVersions(
  place: GitDirectory,
  pairs: readonly VersionPair[],
): Promise<readonly Standing[]> {
  const differing = pairs.filter(({ here, there }) => here !== there);
  const present = await presentCommits(
    place,
    differing.flatMap(({ here, there }) => [here, there]),
  );
  const lines = await readLines(place, [...present]);
  return pairs.map(({ here, there }): Standing => {
    if (here === there) return 'same';
    if (!present.has(here) || !present.has(there)) return 'unknown';
    if (isAncestor(lines, there, here)) return 'ahead';
    if (isAncestor(lines, here, there)) return 'behind';
    const [mine, theirs] = [lines.get(here)?.seconds ?? 0, lines.get(there)?.seconds ?? 0];
    return mine > theirs ? 'diverged-later' : mine < theirs ? 'diverged-earlier' : 'diverged-tie';
  });
}

/** Those of the ids that are commits in this repository. */
export async function presentCommits(
  place: GitDirectory,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Set();
  const listed = await runGit(place, ['cat-file', '--batch-check=%(objectname) %(objecttype)', '--buffer'], {
    input: wanted.map((id) => `${id}\n`).join(''),
    maxBytes: maxWalkBytes,
  });
  const present = new Set<string>();
  for (const line of listed.toString('utf8').split('\n')) {
    const [id = '', type] = line.split(' ');
    if (type === 'commit') present.add(id);
  }
  return present;
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
      // A content commit's parent is the commit that it belongs to; the user's own history is not part of the ref's
      // history.
      '--not',
      '--branches',
      '--tags',
      '--remotes',
      '--not',
      '--stdin',
    ],
    { input: tips.map((tip) => `${tip}\n`).join(''), maxBytes: maxWalkBytes },
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
