import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** One file of an audit log: a log that grows goes on in another one. */
export interface AuditFile {
  readonly path: string;
  /** Number of its first line, as its name says. */
  readonly first: number;
}

/** `audit-<number of its first line>.jsonl` in the directory of the thread. */
export function auditFile(directory: string, first: number): string {
  return join(directory, `audit-${first}.jsonl`);
}

/** The files of a thread's audit log, oldest first; none where there is none. */
export async function listAuditFiles(directory: string): Promise<readonly AuditFile[]> {
  const names = await readdir(directory).catch(() => []);
  return names
    .flatMap((name) => {
      const [, first] = /^audit-([1-9]\d{0,10})\.jsonl$/.exec(name) ?? [];
      return first === undefined ? [] : [{ path: join(directory, name), first: Number(first) }];
    })
    .sort((a, b) => a.first - b.first);
}

/** Beyond that it is no file of ours: one is closed long before. */
const maxFileBytes = 16 * 1024 * 1024;

/** The content of one, or why nobody should believe it; `undefined` where it is gone. */
export async function readAuditFile(path: string): Promise<Buffer | string | undefined> {
  // Without O_NONBLOCK a pipe of that name would hang us before it can be refused.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((fault: NodeJS.ErrnoException) => fault);
  if (file instanceof Error) return file.code === 'ENOENT' ? undefined : `it cannot be opened: ${file.code}`;
  try {
    const status = await file.stat();
    if (!status.isFile()) return 'it is not a regular file';
    if (process.geteuid !== undefined && status.uid !== process.geteuid())
      return `it belongs to user ${status.uid}`;
    if ((status.mode & 0o077) !== 0)
      return `others have rights to it (mode ${(status.mode & 0o777).toString(8)})`;
    if (status.size > maxFileBytes) return `it has ${status.size} octets`;
    return await file.readFile();
  } finally {
    await file.close();
  }
}
