import { runGit } from '../../engine/vcs/git.ts';
import { openRepository, type Repository } from '../../engine/vcs/repository.ts';

const most = 2000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Asks for files of the repository around a directory, which is looked for once: those that hold all of the letters,
 * bounded. Whoever asks while a list is made gets that one.
 */
export function pathsAround(directory: string): (sought: string) => Promise<readonly string[]> {
  const found = openRepository(directory);
  let listing: Promise<readonly string[]> | undefined;
  return async (sought) => {
    listing ??= found.then(listPaths).finally(() => {
      listing = undefined;
    });
    return narrowed(await listing, sought.toLowerCase());
  };
}

/** Files of the work tree, tracked and new; none that git ignores. */
async function listPaths(repository: Repository): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  const listed = await runGit(repository, args, { maxBytes });
  return listed
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '');
}

/** Those that begin so stand first. */
function narrowed(paths: readonly string[], sought: string): readonly string[] {
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
