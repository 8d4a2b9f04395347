import { runGit } from './git.ts';
import type { Repository } from './repository.ts';

/** What a commit says of the run that sealed it, and what it was made on. */
export interface SealedWords {
  readonly parents: readonly string[];
  /** Of its trailers the last of each; `undefined` where it has none. */
  readonly runId: string | undefined;
  readonly specDigest: string | undefined;
}

/** Reads them out of the commit itself, which nobody can change behind it. GIT_FAILED where there is none. */
export async function sealedWords(repository: Repository, commit: string): Promise<SealedWords> {
  const args = ['log', '-1', '--no-show-signature', '--format=%P%x00%B', '--end-of-options', commit];
  const [parents = '', message = ''] = (await runGit(repository, args)).toString('utf8').split('\0');
  const lastOf = (name: string): string | undefined =>
    message
      .split('\n')
      .findLast((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  return {
    parents: parents.split(' ').filter((one) => one !== ''),
    runId: lastOf('Run-Id'),
    specDigest: lastOf('Intentspec-Digest')?.replace(/^sha256:/, ''),
  };
}
