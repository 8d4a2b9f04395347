import { WritError } from '../base/errors.ts';
import type { PatchFile } from '../contract/patch-set.ts';

/**
 * A patch must not choose its own judges: files below `.writ/` take two approvals under the old signers, and nothing
 * collects those for this version. PATCH_TOUCHES_STATE.
 */
export function refuseStatePaths(files: readonly PatchFile[]): void {
  const touched = files.flatMap(({ path, oldPath }) => [path, ...(oldPath === undefined ? [] : [oldPath])]);
  const found = touched.filter((path) => /^\.writ(?:\/|$)/i.test(path));
  if (found.length === 0) return;
  throw new WritError('PATCH_TOUCHES_STATE', {
    message: `the patch changes \`${found[0]}\`, which governs writ itself`,
    detail: { paths: found.slice(0, 20) },
    hints: ['change `.writ/` in a commit of its own, outside writ'],
  });
}
