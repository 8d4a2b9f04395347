import { runGit } from '../../engine/vcs/git.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';

const most = 2000;
const maxBytes = 64 * 1024 * 1024;

/** Asks for the files of the repository around a directory, which is looked for once. */
export function trackedPathsAround(directory: string): (prefix: string) => Promise<readonly string[]> {
  const found = openRepository(directory, { onlyReads: true });
  return async (prefix) => trackedPaths(await found, prefix);
}

/** Files of the work tree that version control knows, those that hold all of the letters first asked for; bounded. */
async function trackedPaths(repository: Repository, prefix: string): Promise<readonly string[]> {
  const listed = await runGit(repository, ['ls-files', '-z'], { maxBytes });
  const sought = prefix.toLowerCase();
  const paths = listed
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '');
  const begins = paths.filter((path) => path.toLowerCase().startsWith(sought));
  const rest = paths.filter((path) => !path.toLowerCase().startsWith(sought) && holdsLetters(path, sought));
  return [...begins, ...rest].slice(0, most);
}

/** In their order, with anything between them. */
function holdsLetters(path: string, sought: string): boolean {
  let at = -1;
  const lower = path.toLowerCase();
  return [...sought].every((letter) => {
    at = lower.indexOf(letter, at + 1);
    return at >= 0;
  });
}
