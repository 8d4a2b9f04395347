/* Recognises tests and their helpers by their paths. */
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { isCode } from './language.ts';

/**
 * Where tests are, by path, whatever their language: cases, and helpers, fixtures and snapshots beside them. Rules that
 * read cases use the narrower patterns of each language (`gates/test-cases/test-text.ts`).
 */

const ofTests =
  /(?:^|\/)(?:__tests__|[Tt]ests?|[Ss]pecs?|unit-?tests?|e2e|integration|t)\/|[._-](?:test|tests|spec)\.|(?:^|\/)(?:test_|test-[^/]*\.[cm]?[jt]s$|(?:self-?)?tests?\.[a-z]+$|conftest\.)|_(?:test|spec)\.|(?:Tests?|IT|Spec)\.\w+$|\.(?:bats|t)$/;
const ofRunners =
  /(?:^|\/)(?:package\.json|Makefile|[Jj]ustfile|\.taprc|\.mocharc[\w.]*|\.env[\w.]*|\.npmrc|[\w.-]*config\.\w+|[\w.-]+\.(?:toml|ini|cfg|xml|gradle|kts|csproj))$|[sS]etup|[hH]elper/;
/** File names that test runners collect and compilers include. */
const collected =
  /[._-](?:test|tests|spec)\.\w+$|(?:^|\/)test_[^/]*\.\w+$|(?:^|\/)test-[^/]*\.[cm]?[jt]s$|(?:^|\/)(?:self-?)?tests?\.[a-z]+$|_(?:test|spec)\.\w+$|(?:Tests?|IT|Spec)\.\w+$|\.(?:bats|t)$/;
/** Files whose names say that they help tests: they may be anywhere. */
const ofHelpers =
  /(?:^|\/)(?:test|spec)s?[\w-]{0,20}(?:utils?|helpers?|support|kit)\b|(?:^|\/)(?:helpers?|support|testing|testlib|test[-_]?utils?)\/|(?:^|[/._-])(?:asserts?|assertions?|matchers?|helpers?|testing|test[-_]?utils?)\.\w+$/i;
/** A directory of tests beside the product, not in it. */
const ofTestRoot =
  /^(?:(?!(?:src|lib|app|source)\/)[^/]+\/)*(?:[Tt]ests?|__tests__)\/|(?:^|\/)src\/test\/(?:java|kotlin|scala|groovy|resources)\//;
/** Manifests and settings: they are no code, and no data of tests either. */
const settings =
  /(?:^|\/)(?:(?:package|package-lock|composer|deno|tsconfig[\w.-]*)\.json|[\w.-]*(?:config|lock|rc|settings)\.(?:json[c5]?|ya?ml|toml|ini|xml|properties)|[\w.-]*[.-]lock|\.[^/]+|openapi\.\w+|requirements[^/]*\.txt|CMakeLists\.txt|pom\.xml|(?:pyproject|cargo)\.toml|go\.(?:mod|sum|work)|(?:setup|tox|pytest)\.(?:cfg|ini)|(?:Make|Gem|Rake|Docker|Just)file|[\w.-]+\.(?:gradle|csproj|mk))$|(?:^|\/)(?:\.github|\.writ)\//i;

/** Whether the base has no version of a file: it is added, or a copy of another one. */
export function isNewFile({ changeType }: Pick<PatchFile, 'changeType'>): boolean {
  return changeType === 'add' || changeType === 'copy';
}

/** Whether a path is of tests: a file of cases, or what only tests use. */
export function isOfTests(path: string): boolean {
  return ofTests.test(path);
}

/** Whether a file helps tests by its name. */
export function isOfHelpers(path: string): boolean {
  return ofHelpers.test(path);
}

/** Whether a path is a file of cases that runners collect by its name. */
export function isCollected(path: string): boolean {
  return collected.test(path);
}

/** Whether a path configures runners, or is loaded before tests. */
export function isOfRunners(path: string): boolean {
  return ofRunners.test(path);
}

const ofTestsAlone =
  /(?:^|\/)(?:\.mocharc[\w.]*|\.taprc|\.rspec|pytest\.(?:ini|toml)|tox\.ini|phpunit\.xml(?:\.dist)?|(?:jest|vitest|ava|karma|playwright|cypress)[.-](?:config|conf|setup)\.\w+)$/;

/** Whether a file holds settings of a test runner and of nothing else. */
export function isOfTestRunners(path: string): boolean {
  return ofTestsAlone.test(path);
}

/** Words of commands that run tests. */
const namesRunner =
  /\b(?:tap|jest|mocha|vitest|ava|prove|bats|tox|pytest|unittest|ctest|rspec|phpunit)\b|(?:^|\s)--test\b|\b(?:npm|pnpm|yarn|bun|go|cargo|dotnet|deno|mix|swift|make)\s(?:run\s)?(?:test|check)\b/;

/** Whether a command runs tests, by its words: a runner, or a path of tests. */
export function runsTests(command: string): boolean {
  return namesRunner.test(command) || command.split(/[\s'"=]+/).some(isOfTests);
}

/** Whether a file can only be of tests: runners collect it, or it is in a directory of tests beside the product. */
export function isSurelyOfTests(path: string): boolean {
  return isCollected(path) || isBelowTestRoot(path);
}

/** Whether a file is in a directory of tests beside the product, and not in it. */
export function isBelowTestRoot(path: string): boolean {
  return ofTestRoot.test(path);
}

/** What is here is read, or loaded, by tests alone, also what has the ending of code. */
const fixturePlaces =
  /(?:^|\/)(?:fixtures?|__fixtures__|test-?data|goldens?|snapshots?|__snapshots__|expected)\//;
const dataPlaces =
  /(?:^|\/)(?:goldens?|data|test-?data|cases|fixtures?|expected|examples|samples?|snapshots?)\//;

/** Whether a path is data that tests may read, such as a file of cases or expected output: no code and no settings. */
export function isData(path: string): boolean {
  return fixturePlaces.test(path) || (!isCode(path) && (dataPlaces.test(path) || !settings.test(path)));
}

/** Whether a change of data outside test directories takes lines, or adds to a list that is no page. */
export function mayChangeTests(file: PatchFile): boolean {
  const { path, oldPath = path } = file;
  if (isNewFile(file) || !isData(oldPath) || isOfTests(oldPath)) return false;
  return mayTakeLines(file) || !pages.test(oldPath);
}

const pages =
  /\.(?:md|mdx|rst|adoc|html?)$|(?:^|\/)(?:CHANGELOG|CHANGES|HISTORY|NEWS|AUTHORS|LICEN[CS]E)[^/]*$/i;

/**
 * Returns the paths that a run of the base's tests on a candidate restores from the base: changed test files, and new
 * files that can only be of tests. New ones are removed, so that no moved case exists twice. `isTest` recognises test
 * files of the base. Pure.
 */
export function testsOfBase(
  files: readonly PatchFile[],
  isTest: (path: string) => boolean = isOfTests,
): { readonly edited: readonly string[]; readonly added: readonly string[] } {
  const edited = new Set<string>();
  const added = new Set<string>();
  for (const file of files) {
    const { path, oldPath } = file;
    const isNew = isNewFile(file);
    if (!isNew && isTest(oldPath ?? path)) edited.add(oldPath ?? path);
    if ((isNew || oldPath !== undefined) && isSurelyOfTests(path)) added.add(path);
  }
  return { edited: [...edited], added: [...added] };
}

/** Whether a patch removes content from a file of the base: false if it only adds lines, or a file. Pure. */
export function mayTakeLines(file: PatchFile): boolean {
  const { changeType, linesDeleted, binary } = file;
  if (isNewFile(file)) return false;
  return linesDeleted > 0 || binary || changeType !== 'modify';
}
