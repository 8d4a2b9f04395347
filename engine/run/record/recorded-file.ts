import type { PatchFile } from '../../../core/contract/patch-set.ts';
import type { ObjectBody } from '../../store/object-shapes.ts';

/** A changed file as a record holds it, under the names that `pathOf` makes of its own. */
export function recordedFile(
  file: PatchFile,
  pathOf: (path: string) => string = (path) => path,
): ObjectBody<'patchset'>['files'][number] {
  return {
    path: pathOf(file.path),
    change_type: file.changeType,
    binary: file.binary,
    lines_added: file.linesAdded,
    lines_deleted: file.linesDeleted,
    ...(file.oldPath === undefined ? {} : { old_path: pathOf(file.oldPath) }),
    ...(file.oldMode === undefined ? {} : { old_mode: file.oldMode }),
    ...(file.newMode === undefined ? {} : { new_mode: file.newMode }),
    ...(file.oldBlob === undefined ? {} : { old_blob: file.oldBlob }),
    ...(file.newBlob === undefined ? {} : { new_blob: file.newBlob }),
  };
}
