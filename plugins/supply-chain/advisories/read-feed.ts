/* Reads an OSV feed: a file, a directory or an archive. */
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { WritError } from '../../../core/base/errors.ts';
import { maxRecordBytes, splitJson } from '../../../readers/advisories/osv-record.ts';
import type { ArchiveFault } from '../../../readers/documents/archive/archive-fault.ts';
import { zipMembers } from '../../../readers/documents/archive/zip.ts';

const chunkBytes = 1024 * 1024;

/**
 * Yields the records of a file one at a time, in order: OSV records as JSON (one, a list, or concatenated), or a zip
 * archive of such files, as OSV exports it. The first bytes decide the format. Throws INPUT_UNREADABLE,
 * ADVISORIES_INVALID.
 */
export async function* readFeed(path: string): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      throw unreadable(
        path,
        cause.code === 'ENOENT' ? 'there is no such file' : (cause.code ?? 'it cannot be opened'),
      );
    },
  );
  try {
    if (!(await file.stat()).isFile()) throw unreadable(path, 'it is not a regular file');
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.toString('latin1').startsWith('PK')) {
      for await (const entry of zipEntries(file)) yield* splitJson(once(entry));
    } else yield* splitJson(chunksOf(file));
  } finally {
    await file.close();
  }
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function unreadable(path: string, reason: string): WritError {
  return new WritError('INPUT_UNREADABLE', {
    message: `\`${path}\` cannot be read: ${reason}`,
    detail: { path, reason },
  });
}

const limits = {
  members: 4_000_000,
  bytes: 64 * 1024 ** 3,
  memberBytes: maxRecordBytes,
  isPlain: false,
  isWanted: (name: string) => name.toLowerCase().endsWith('.json'),
};

/**
 * Contents of the `.json` files in a zip archive (zip64 too), one at a time, in the order of its directory. What the
 * reader of archives refuses and anything beyond the bounds is ADVISORIES_INVALID. Names are never used as paths.
 */
async function* zipEntries(file: FileHandle): AsyncGenerator<Buffer> {
  const { size } = await file.stat();
  const steps = zipMembers(size, limits);
  let step = steps.next();
  while (!step.done) {
    const asked = step.value;
    if ('name' in asked) {
      yield asked.bytes;
      step = steps.next(asked.bytes);
    } else step = steps.next(await readAt(file, asked.at, asked.length));
  }
  if (step.value) throw invalid(step.value);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, position);
  return bytes.subarray(0, bytesRead);
}

function invalid({ fault, bound, cause }: ArchiveFault): WritError {
  const reason = bound === 'memberBytes' ? `a record has more than ${maxRecordBytes} bytes` : fault;
  return new WritError('ADVISORIES_INVALID', { message: `the archive cannot be read: ${reason}`, cause });
}
