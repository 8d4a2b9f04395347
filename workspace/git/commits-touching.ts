import { type GitDirectory, runGit } from './git.ts';

/** A commit that changed one of some files, and the run that it says it is of. */
export interface TouchingCommit {
  readonly commit: string;
  /** By its trailer: anybody may have written it. */
  readonly runId?: string;
}

const runTrailer = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** The newest commits of `from..to` that changed one of those files, at most so many. */
export async function commitsTouching(
  place: GitDirectory,
  { from, to, most }: { readonly from: string; readonly to: string; readonly most: number },
  paths: readonly string[],
): Promise<readonly TouchingCommit[]> {
  if (paths.length === 0) return [];
  const listed = await runGit(place, [
    'log',
    '-z',
    `--max-count=${most}`,
    '--no-show-signature',
    '--format=%H %(trailers:key=Run-Id,valueonly,separator=%x20)',
    '--end-of-options',
    to,
    `^${from}`,
    '--',
    ...paths,
  ]);
  return listed
    .toString('utf8')
    .split('\0')
    .flatMap((line) => {
      const [commit = '', runId = ''] = line.trim().split(' ');
      if (commit === '') return [];
      return [runTrailer.test(runId) ? { commit, runId } : { commit }];
    });
}
