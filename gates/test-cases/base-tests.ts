/** The tests of the base, with their data, for a run over the candidate. */
import type { Executed, ExecutedCheck } from '../../core/interfaces/executed-rule.ts';
import type { PatchFile } from '../../core/interfaces/patch-set.ts';
import { isCollected, isData, isOfTests, takesLines } from '../../readers/source/test-paths.ts';

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
 * Paths that are taken from the base for its tests to run over a candidate: changed files of tests, and new files of
 * cases, which are not there then, so that no case that moved is there twice. None if all files of tests are as at the
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
 * Of these, cases and data: whether other code in a directory of tests is a helper, or product with such a path
 * (`spec/fee.js`), the path does not say.
 */
export function baseCases(files: readonly PatchFile[]): readonly string[] {
  return baseTests(files).filter((path) => isCollected(path) || isData(path));
}

/** Data outside of directories of tests that the patch takes from tests which read it. */
export function changedData({
  patch,
  reads = [],
}: Pick<ExecutedCheck, 'patch' | 'reads'>): readonly string[] {
  const isRead = new Set(reads);
  return patch.files
    .filter(takesLines)
    .map(({ path, oldPath = path }) => oldPath)
    .filter((path) => isData(path) && !isOfTests(path) && isRead.has(path));
}
