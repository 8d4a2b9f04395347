import { askGit, gitFailed, runGit } from './git.ts';
import type { Repository } from './repository.ts';

/** True only where git ignores `path` in the working tree and tracks nothing at or under it. */
export async function isIgnoredPath(repo: Repository, path: string): Promise<boolean> {
  // This command knows no literal pathspecs; behind `./` nothing is magic, and it takes names for names.
  const asked = ['check-ignore', '--quiet', '--', `./${path}`];
  const { code, stderr } = await askGit(repo, asked, { env: { GIT_LITERAL_PATHSPECS: '0' } });
  if (code > 1) throw gitFailed(asked, code, stderr);
  if (code === 1) return false;
  const tracked = await runGit(repo, ['ls-files', '-z', '--cached', '--', path]);
  return tracked.length === 0;
}
