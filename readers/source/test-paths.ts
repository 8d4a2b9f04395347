/* Recognises tests and their helpers by their paths. */
import type { PatchFile } from '../../core/interfaces/patch-set.ts';

/**
 * Where tests are, by path, whatever their language: cases, and helpers, fixtures and snapshots beside them. Rules that
 * read cases use the narrower patterns of each language (`gates/test-cases/test-text.ts`).
 */

const ofTests =
  /(?:^|\/)(?:__tests__|tests?|specs?|e2e|integration|t)\/|[._-](?:test|tests|spec)\.|(?:^|\/)(?:test_|conftest\.)|_(?:test|spec)\.|(?:Tests?|IT|Spec)\.\w+$|\.(?:bats|t)$/;
const ofRunners =
  /(?:^|\/)(?:package\.json|Makefile|[Jj]ustfile|\.taprc|\.mocharc[\w.]*|\.env[\w.]*|\.npmrc|[\w.-]*config\.\w+|[\w.-]+\.(?:toml|ini|cfg|xml|gradle|kts|csproj))$|[sS]etup|[hH]elper/;
/** File names that test runners collect and compilers include. */
const collected =
  /[._-](?:test|tests|spec)\.\w+$|(?:^|\/)test_[^/]*\.\w+$|_(?:test|spec)\.\w+$|(?:Tests?|IT|Spec)\.\w+$|\.(?:bats|t)$/;
/** Data in files. What else is in these formats, manifests and settings, is left out by its name. */
const ofData =
  /\.(?:json[5l]?|ndjson|jsonc|ya?ml|csv|tsv|txt|xml|html?|snap|golden|expected|approved|out|dat|data|bin|sql|proto|svg|png|gz|zip)$/i;
const noData =
  /(?:^|\/)(?:package(?:-lock)?\.json|[\w.-]*(?:config|lock|rc|settings)\.\w+|\.[^/]+|openapi\.\w+|README[^/]*|CHANGELOG[^/]*|LICEN[CS]E[^/]*|requirements[^/]*\.txt|CMakeLists\.txt|pom\.xml)$|(?:^|\/)(?:\.github|\.writ|docs?)\//i;

/** Whether a path is of tests: a file of cases, or what only tests use. */
export function isOfTests(path: string): boolean {
  return ofTests.test(path);
}

/** Whether a path is a file of cases that runners collect by its name. */
export function isCollected(path: string): boolean {
  return collected.test(path);
}

/** Whether a path configures runners, or is loaded before tests. */
export function isOfRunners(path: string): boolean {
  return ofRunners.test(path);
}

/** Whether a path is data that tests may read, such as a file of cases or expected output. */
export function isData(path: string): boolean {
  return ofData.test(path) && !noData.test(path);
}

/** Whether a patch removes content from a file of the base: false if it only adds lines, or a file. Pure. */
export function mayTakeLines({ changeType, linesDeleted, binary }: PatchFile): boolean {
  if (changeType === 'add' || changeType === 'copy') return false;
  return linesDeleted > 0 || binary || changeType !== 'modify';
}
