/* Runs a check with the tests of the base. */
import type { PatchFile, PatchSet } from '../../core/interfaces/patch-set.ts';
import type { Executed, ExecutedCheck } from '../../core/interfaces/rule.ts';
import { isCode } from '../../readers/source/language.ts';
import {
  isCollected,
  isData,
  isOfTests,
  isSurelyOfTests,
  mayChangeTests,
  testsOfBase,
} from '../../readers/source/test-paths.ts';

/**
 * The check on the candidate with the tests of the base and the data that they read; `undefined` if all of them are as
 * there.
 */
export async function rerunBaseTests(
  one: ExecutedCheck & TestsOfChange,
  tests = baseTests(one),
): Promise<Executed | undefined> {
  const verificationInputs = changedData(one);
  if (tests.length + verificationInputs.length === 0) return undefined;
  return one.rerun({ tree: 'candidate', tests, verificationInputs });
}

/** The change, and which of its files are tests although their names do not say so. */
export interface TestsOfChange {
  readonly patch: Pick<PatchSet, 'files'>;
  readonly tests?: readonly string[];
  /** New files that are tests by what they hold, or by their place. */
  readonly added?: readonly string[];
}

/** The paths that the base's tests need as the base has them. Empty if all test files are as at the base. Pure. */
export function baseTests({ patch: { files }, tests = [], added = [] }: TestsOfChange): readonly string[] {
  const changed = testsOfBase(files, (path) => isOfTests(path) || tests.includes(path));
  return changed.edited.length === 0 ? [] : [...new Set([...changed.added, ...added, ...changed.edited])];
}

/** Of those, the ones that are no product: `spec/fee.js` may be. */
export function sureTests(one: TestsOfChange): readonly string[] {
  const { tests = [] } = one;
  return baseTests(one).filter((path) => !isCode(path) || isSurelyOfTests(path) || tests.includes(path));
}

/**
 * The new test files of a change that touches more than tests. Such a file can put something else in the product's
 * place for every test of its process.
 */
export function newTestFiles({ patch: { files }, added = [] }: TestsOfChange): readonly string[] {
  if (files.every(({ path }) => isSurelyOfTests(path))) return [];
  const isProgram = ({ path, newMode }: PatchFile): boolean => isCode(path) || newMode === '100755';
  const programs = new Set(files.filter(isProgram).map(({ path }) => path));
  return [...new Set([...testsOfBase(files).added, ...added])].filter((path) => programs.has(path));
}

/**
 * The cases and data of `baseTests`. For other code in a test directory the path does not show whether it is a helper
 * or part of the product (`spec/fee.js`).
 */
export function baseCases(one: TestsOfChange): readonly string[] {
  return baseTests(one).filter((path) => isCollected(path) || isData(path));
}

/** Changed data files outside test directories that the base's tests read; all of them if that was not observed. */
export function changedData({ patch, reads }: Pick<ExecutedCheck, 'patch' | 'reads'>): readonly string[] {
  const isRead = reads && new Set(reads);
  return patch.files.flatMap((file) => {
    const { path, oldPath = path } = file;
    return mayChangeTests(file) && isRead?.has(oldPath) !== false ? [oldPath] : [];
  });
}
