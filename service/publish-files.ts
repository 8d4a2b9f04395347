import { join } from 'node:path';
import { ignoreDirectory } from '../http/ignore-directory.ts';
import {
  openPrivateDirectory,
  removeDrafts,
  removeOwnFile,
  writePrivateFile,
} from '../http/private-files.ts';

/** Where a script looks for the service, below the root of whichever work tree it stands in (resolutions A, State). */
const segments = ['.writ', 'service'] as const;

/**
 * Puts copies of the published files below every root; answers with what takes them away again. A root where that
 * cannot be is left out, unless it is `own`: then PRIVATE_FILE_UNSAFE. What a killed service left there is replaced,
 * or removed where it is a draft. The caller holds the service's lock.
 */
export async function publishFiles(
  roots: Iterable<string>,
  own: string,
  files: readonly (readonly [name: string, text: string])[],
): Promise<() => Promise<void>> {
  const undo: (() => Promise<void>)[] = [];
  const withdraw = async (): Promise<void> => {
    await Promise.all(undo.splice(0).map((step) => step()));
  };
  for (const root of roots) {
    try {
      const directory = await openPrivateDirectory(root, segments);
      await removeDrafts(directory);
      await ignoreDirectory(directory);
      for (const [name, text] of files) {
        const path = join(directory, name);
        undo.push(() => removeOwnFile(path, text));
        await writePrivateFile(path, text);
      }
    } catch (fault) {
      if (root !== own) continue;
      await withdraw();
      throw fault;
    }
  }
  return withdraw;
}
