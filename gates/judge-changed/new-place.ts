/* Decides whether a new file can affect verification by its place. */
import type { JudgeReach, PatchFile } from '../../core/interfaces/patch-set.ts';
import { isFixture } from '../../readers/judges/rules.ts';
import { directoryOf, placeTest } from '../../readers/judges/tree.ts';

type Test = (directory: string) => boolean;

interface ReadyDirectories {
  /** Programs run in it. */
  readonly isRun: Test;
  /** Or in one below it, or something below it is reached. */
  readonly isPlace: Test;
  readonly isThere: Test;
}

/** Caches the directory lookups of a reach, because they run for each changed file. */
const ready = new WeakMap<JudgeReach, ReadyDirectories>();

function readyFor(reach: JudgeReach): ReadyDirectories {
  const known = ready.get(reach);
  if (known) return known;
  const { places = ['**'], directories = [], files } = reach;
  const isRun = placeTest(places);
  const above = new Set<string>();
  for (const one of [...places, ...files.map(({ path }) => path)])
    for (let slash = one.lastIndexOf('/'); slash > 0; slash = one.lastIndexOf('/', slash - 1))
      above.add(one.slice(0, slash));
  const all = new Set(directories);
  const made = {
    isRun,
    isPlace: (directory: string) => directory === '' || isRun(directory) || above.has(directory),
    isThere: (directory: string) => directory === '' || all.has(directory),
  };
  ready.set(reach, made);
  return made;
}

/** Whether checks read a file that counts only where a program runs: in that directory, or on the way to one. */
export function isReadThere(reach: JudgeReach | undefined, path: string): boolean {
  if (reach === undefined) return true;
  const { isRun, isPlace } = readyFor(reach);
  const directory = configuredDirectory(path);
  return path.includes('__mocks__/') ? isRun(directory) : isPlace(directory);
}

/** Whether a file is new in a new directory: such a file cannot affect existing verification. */
export function isOfNewDirectory(reach: JudgeReach | undefined, { path, changeType }: PatchFile): boolean {
  if (changeType !== 'add' || !path.includes('/')) return false;
  if (reach?.directories !== undefined)
    return isFixture(path) || !readyFor(reach).isThere(configuredDirectory(path));
  const directory = path.slice(0, path.lastIndexOf('/') + 1);
  return path.endsWith('/package.json') && !reach?.files.some((known) => known.path.startsWith(directory));
}

const javascript =
  /^(?:node|npm|npx|pnpm|pnpx|yarn|bun|bunx|deno|tsx|ts-node|jest|vitest|_?mocha|ava|tap|eslint|tsc|c8|nyc)$/;

/**
 * Returns the package that a tracked file under `node_modules` would replace. If packages are tracked anyway, only
 * those of programs that checks run count.
 */
export function replaces(reach: JudgeReach | undefined, { path, changeType }: PatchFile): string | undefined {
  const [, directory = '', name = ''] = /^(.*?)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name === '' || name === '.bin' || reach?.directories === undefined || isFixture(directory))
    return undefined;
  if (!reach.programs.some((program) => javascript.test(program))) return undefined;
  const { isThere } = readyFor(reach);
  if (isThere(`${directory}node_modules`)) return reach.programs.includes(name) ? name : undefined;
  return isThere(directory.slice(0, -1)) && changeType !== 'delete' ? name : undefined;
}

/** The directory for which a file counts: mocks count where their directory is. */
function configuredDirectory(path: string): string {
  return directoryOf(path).replace(/(?:^|\/)__mocks__$/, '');
}
