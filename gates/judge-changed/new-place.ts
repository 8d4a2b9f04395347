import type { JudgeReach } from '../../core/contract/judge-reach.ts';
import type { PatchFile } from '../../core/contract/patch-set.ts';
import { isPlace } from '../../core/run/judge/is-place.ts';
import { isFixture } from '../../core/run/judge/serves-judging.ts';

/** Whether checks read a file that counts only where a program runs: in that directory, or on the way to one. */
export function isReadThere(reach: JudgeReach | undefined, path: string): boolean {
  if (reach?.places === undefined) return true;
  const directory = configuredDirectory(path);
  if (path.includes('__mocks__/')) return isPlace(directory, reach.places);
  if (directory === '' || isPlace(directory, reach.places)) return true;
  return [...reach.places, ...reach.files.map((known) => known.path)].some((one) =>
    one.startsWith(`${directory}/`),
  );
}

/** Whether a file is new in a directory that is new as well: it says nothing of what is judged so far. */
export function isOfNewDirectory(reach: JudgeReach | undefined, { path, changeType }: PatchFile): boolean {
  if (changeType !== 'add' || !path.includes('/')) return false;
  if (reach?.directories !== undefined) {
    const directory = configuredDirectory(path);
    return isFixture(path) || (directory !== '' && !reach.directories.includes(directory));
  }
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  return path.endsWith('/package.json') && !reach?.files.some((known) => known.path.startsWith(directory));
}

const javascript =
  /^(?:node|npm|npx|pnpm|pnpx|yarn|bun|bunx|deno|tsx|ts-node|jest|vitest|_?mocha|ava|tap|eslint|tsc|c8|nyc)$/;

/**
 * The package in whose place a tracked file stands that is installed otherwise. Where packages are tracked anyway, only those of programs
 * that are run count.
 */
export function takesPlaceOf(
  reach: JudgeReach | undefined,
  { path, changeType }: PatchFile,
): string | undefined {
  const [, directory = '', name = ''] = /^(.*?)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name === '' || name === '.bin' || reach?.directories === undefined || isFixture(directory))
    return undefined;
  if (!reach.programs.some((program) => javascript.test(program))) return undefined;
  if (reach.directories.includes(`${directory}node_modules`))
    return reach.programs.includes(name) ? name : undefined;
  const isThere = directory === '' || reach.directories.includes(directory.slice(0, -1));
  return isThere && changeType !== 'delete' ? name : undefined;
}

/** The directory for which a file counts: mocks count where their directory is. */
function configuredDirectory(path: string): string {
  const directory = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  return directory.replace(/(?:^|\/)__mocks__$/, '');
}
