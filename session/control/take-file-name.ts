import { lstat, rm } from 'node:fs/promises';
import { WritError } from '../../core/base/errors.ts';
import { readPrivateFile } from '../../http/private-files.ts';

/**
 * Makes room for a control file at a path that a person may have chosen: what a killed session left there is removed.
 * Everything else stays and is PRIVATE_FILE_UNSAFE: a link, what is no regular file, not 0600 or somebody else's, and a
 * file of another kind, of which `isOurs` says no. Only for whoever holds the file's lock.
 */
export async function takeFileName(
  path: string,
  what: string,
  isOurs: (text: string) => boolean,
): Promise<void> {
  const text = await readPrivateFile(path);
  if (text === undefined) return;
  const mode = (await lstat(path)).mode & 0o777;
  if (mode !== 0o600) throw refused(path, `expected mode 600, found ${mode.toString(8)}`);
  if (!isOurs(text)) throw refused(path, `it is no ${what}`);
  await rm(path, { force: true });
}

function refused(path: string, reason: string): WritError {
  return new WritError('PRIVATE_FILE_UNSAFE', {
    message: `\`${path}\` is refused: ${reason}`,
    detail: { path, reason },
    hints: ['look at what it is, then name another file or remove it'],
  });
}
