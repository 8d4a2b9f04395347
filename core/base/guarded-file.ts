import { constants, type Stats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { WritError } from './errors.ts';

const maxBytes = 64 * 1024;

/**
 * Reads a small file that only its owner may have changed; with `secret`, that only its owner may read. Symlinks,
 * pipes, other owners, loose modes, a directory that others may write to: KEY_INSECURE. `undefined` where there is
 * none.
 */
export async function readGuarded(path: string, secret: boolean): Promise<string | undefined> {
  // Without O_NONBLOCK a pipe of that name would hang us before it can be refused.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT' || fault.code === 'ENOTDIR') return undefined;
    if (fault.code === 'ELOOP') throw insecure(path, 'it is a symbolic link');
    throw new WritError('KEY_INSECURE', {
      message: `\`${path}\` cannot be opened`,
      detail: { path },
      cause: fault,
    });
  });
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    const reason =
      whyInsecure(status, secret ? 0o077 : 0o022) ?? whyDirectoryInsecure(await stat(dirname(path)));
    if (reason !== undefined) throw insecure(path, reason);
    if (status.size > maxBytes)
      throw insecure(path, `it has ${status.size} octets, expected at most ${maxBytes}`);
    const bytes = Buffer.alloc(maxBytes);
    const { bytesRead } = await file.read(bytes, 0, maxBytes, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

function whyInsecure(status: Stats, forbidden: number): string | undefined {
  if (!status.isFile()) return 'it is not a regular file';
  if (isForeign(status)) return `it belongs to user ${status.uid}`;
  if ((status.mode & forbidden) === 0) return undefined;
  return `others have rights to it (mode ${(status.mode & 0o777).toString(8)})`;
}

function whyDirectoryInsecure(status: Stats): string | undefined {
  const sticky = (status.mode & 0o1000) !== 0;
  if ((status.mode & 0o022) !== 0 && !sticky) return 'others may write to its directory';
  return isForeign(status) && status.uid !== 0 ? `its directory belongs to user ${status.uid}` : undefined;
}

function isForeign(status: Stats): boolean {
  return process.geteuid !== undefined && status.uid !== process.geteuid();
}

function insecure(path: string, reason: string): WritError {
  return new WritError('KEY_INSECURE', {
    message: `\`${path}\` is refused: ${reason}`,
    detail: { path, reason },
    hints: [`make it a regular file of your own that nobody else can reach: \`chmod 600 ${path}\``],
  });
}
