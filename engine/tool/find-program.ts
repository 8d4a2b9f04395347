import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

const systemDirectories = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/**
 * Absolute path of an installed program, system directories first so that nothing earlier on PATH can stand in for it;
 * `undefined` where it is not installed. Relative PATH entries are skipped.
 */
export function findProgram(name: string, searchPath: string): string | undefined {
  for (const directory of [...systemDirectories, ...searchPath.split(':')]) {
    if (!path.isAbsolute(directory)) continue;
    const file = path.join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not here.
    }
  }
  return undefined;
}
