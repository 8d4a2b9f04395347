/** The tests of the base, with their data, for a run over the candidate. */

import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import type { Executed, ExecutedCheck } from '../../core/interfaces/rule.ts';
import { isCollected, isData, isOfTests, mayTakeLines } from '../../readers/source/test-paths.ts';

/**
 * The check on the candidate with the tests of the base and the data that they read; `undefined` if all of them are as
 * there.
 */
export async function rerunBaseTests(
  one: ExecutedCheck,
  tests = baseTests(one.patch.files),
): Promise<Executed | undefined> {
  const verificationInputs = changedData(one);
  if (tests.length + verificationInputs.length === 0) return undefined;
  return one.rerun({ tree: 'candidate', tests, verificationInputs });
}

/**
 * Returns the paths that a run of the base's tests on a candidate restores from the base: changed test files, and new
 * case files. New case files are removed, so that no moved case exists twice. Empty if all test files are as at the
 * base. Pure.
 */
export function baseTests(files: readonly PatchFile[]): readonly string[] {
  const isOld = ({ changeType }: PatchFile): boolean => changeType !== 'add' && changeType !== 'copy';
  if (!files.some((file) => isOld(file) && isOfTests(file.oldPath ?? file.path))) return [];
  return files.flatMap(({ path, oldPath, changeType }) => {
    const isNew = changeType === 'add' || changeType === 'copy';
    const paths = (isNew || oldPath !== undefined) && isCollected(path) ? [path] : [];
    if (!isNew && isOfTests(oldPath ?? path)) paths.push(oldPath ?? path);
    return [...new Set(paths)];
  });
}

/**
 * The cases and data of `baseTests`. For other code in a test directory the path does not show whether it is a helper
 * or part of the product (`spec/fee.js`).
 */
export function baseCases(files: readonly PatchFile[]): readonly string[] {
  return baseTests(files).filter((path) => isCollected(path) || isData(path));
}

/** Changed data files outside test directories that the base's tests read and the patch deletes or shortens. */
export function changedData({
  patch,
  reads = [],
}: Pick<ExecutedCheck, 'patch' | 'reads'>): readonly string[] {
  const isRead = new Set(reads);
  return patch.files
    .filter(mayTakeLines)
    .map(({ path, oldPath = path }) => oldPath)
    .filter((path) => isData(path) && !isOfTests(path) && isRead.has(path));
}
