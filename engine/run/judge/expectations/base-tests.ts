import type { PatchFile } from '../../../../core/contract/patch-set.ts';
import type { TreeLeaf } from '../../../vcs/write-tree.ts';
import { isOfTests } from '../compare-executed.ts';

/** What runners collect and compilers take along, by its name. */
const collected =
  /[._-](?:test|tests|spec)\.\w+$|(?:^|\/)test_[^/]*\.\w+$|_(?:test|spec)\.\w+$|(?:Tests?|IT|Spec)\.\w+$|\.(?:bats|t)$/;

/**
 * What has to be laid over a candidate for the base's tests to stand in it: changed files of tests as the base has
 * them, and nothing where files of cases are new, so that no case that moved is there twice. Empty where no test file
 * lost a line. Pure.
 */
export function baseTests(
  files: readonly PatchFile[],
  withAddedLines = false,
): ReadonlyMap<string, TreeLeaf> {
  const leaves = new Map<string, TreeLeaf>();
  if (!files.some((file) => isTaken(file, withAddedLines))) return leaves;
  for (const { path, oldPath, changeType } of files) {
    const isNew = changeType === 'add' || changeType === 'copy' || oldPath !== undefined;
    if (isNew && collected.test(path)) leaves.set(path, undefined);
  }
  for (const { path, oldPath = path, oldBlob, oldMode, changeType } of files) {
    const isThere = changeType !== 'add' && changeType !== 'copy';
    if (!isThere || !isOfTests(oldPath) || oldBlob === undefined || oldMode === undefined) continue;
    leaves.set(oldPath, { mode: oldMode, object: oldBlob });
  }
  return leaves;
}

function isTaken(
  { path, oldPath = path, changeType, linesDeleted, binary }: PatchFile,
  withAddedLines: boolean,
): boolean {
  if (changeType === 'add' || changeType === 'copy' || !isOfTests(oldPath)) return false;
  return withAddedLines || linesDeleted > 0 || binary || changeType !== 'modify';
}
