import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, opendir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Files of a workspace in which nothing runs while they are used: `path` is where a path really leads (`realPathIn`),
 * and its last name is never followed. What is no plain file is an error of the file system's.
 */
export interface ReadText {
  readonly bytes: Buffer;
  /** Of the whole file. */
  readonly totalBytes: number;
}

/** The beginning of a file. */
export async function readWorkspaceFile(
  workspace: string,
  path: string,
  maxBytes: number,
): Promise<ReadText> {
  // What waits for somebody to write to it is opened without waiting.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(join(workspace, path), flags);
  const { size } = await requireFile(file);
  const bytes = Buffer.alloc(Math.min(size, maxBytes));
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  return { bytes: bytes.subarray(0, bytesRead), totalBytes: size };
}

/** Writes a file and the directories above it; an existing one keeps its mode. */
export async function writeWorkspaceFile(workspace: string, path: string, bytes: Uint8Array): Promise<void> {
  const place = join(workspace, path);
  await mkdir(dirname(place), { recursive: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(place, flags, 0o644);
  await requireFile(file);
  await file.truncate(0);
  await file.writeFile(bytes);
}

/** Removes a file or a link itself. */
export async function deleteWorkspaceFile(workspace: string, path: string): Promise<void> {
  await unlink(join(workspace, path));
}

/** Names in a directory, sorted, directories with a slash behind; at most so many, and whether there are more. */
export async function listWorkspaceDirectory(
  workspace: string,
  path: string,
  most: number,
): Promise<{ readonly names: readonly string[]; readonly more: boolean }> {
  const names: string[] = [];
  await using directory = await opendir(join(workspace, path));
  for await (const entry of directory) {
    if (names.length > most) break;
    names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return { names: names.slice(0, most).sort(), more: names.length > most };
}

async function requireFile(file: FileHandle) {
  const status = await file.stat();
  if (!status.isFile()) throw Object.assign(new Error('it is no plain file'), { code: 'EINVAL' });
  return status;
}
