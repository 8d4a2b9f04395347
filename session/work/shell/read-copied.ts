import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of a copy that nothing has run in yet; `undefined` where none stands there. */
export async function readCopied(directory: string, path: string): Promise<Uint8Array | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(directory, path), flags).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return (await file.stat()).isFile() ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
}
